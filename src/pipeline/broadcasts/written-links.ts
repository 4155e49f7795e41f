/** Links as the author of a broadcast wrote them. Pure. */
import { parseText, placeholderText } from '../../resources/templates/parse.ts'
import { findParts } from '../tracking/find-links.ts'
import { HOLE } from '../tracking/rewrite-plan-cache.ts'
import { mayBeKey } from './unusual-names.ts'

/**
 * Those that lead each recipient elsewhere.
 *
 * @param html with placeholders
 * @returns by their numbers
 */
export function personalLinks(html: string): ReadonlyMap<number, string> {
  const { literals, placeholders } = parseText(html, mayBeKey)
  if (placeholders.length === 0) return new Map()
  const { hrefs } = findParts(literals.join(HOLE))
  let hole = 0
  let holeAt = literals[0]!.length
  return new Map(
    hrefs.flatMap(({ start, end, number, value }) => {
      const names: string[] = []
      for (; hole < placeholders.length && holeAt < end; hole++) {
        if (holeAt >= start) names.push(placeholderText(placeholders[hole]!))
        holeAt += HOLE.length + literals[hole + 1]!.length
      }
      let next = 0
      return names.length > 0
        ? [[number, value.replaceAll(HOLE, character => names[next++] ?? character)]]
        : []
    }),
  )
}
