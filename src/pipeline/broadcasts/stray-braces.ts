/** Braces of a broadcast that make no place: they stay as they are, and readers see them. Pure. */
import { parseText, placeholderText } from '../../resources/templates/parse.ts'
import { openTags, readHtml } from '../tracking/read-html.ts'
import { HOLE } from '../tracking/rewrite-plan-cache.ts'
import { mayBeKey } from './unusual-names.ts'

/** One beside a place is one too many, too. */
const STRAY = new RegExp(`\\{\\{|\\}\\}|\\{${HOLE}|${HOLE}\\}`, 'g')
/** What is in them is full of braces, and shown to nobody. */
const UNSEEN = new Set(['style', 'script'])
/** Characters shown on either side. */
const AROUND = 20

/**
 * What may be a key counts as a place.
 *
 * @param most found of them; more are not looked for
 * @returns with the text around, in the order of the text; those that stand close together are one
 */
export function strayBraces(text: string, isHtml: boolean, most: number): string[] {
  const { literals, placeholders } = parseText(text, mayBeKey)
  const page = literals.join(HOLE)
  const found: string[] = []
  let hole = 0
  let holeAt = page.indexOf(HOLE)
  /** With places as they are written. To be asked in ascending order. */
  const written = (start: number, end: number) => {
    for (; holeAt >= 0 && holeAt < start; holeAt = page.indexOf(HOLE, holeAt + 1)) hole++
    let next = hole
    const name = (character: string) => {
      const placeholder = placeholders[next++]
      return placeholder ? placeholderText(placeholder) : character
    }
    return page.slice(start, end).toWellFormed().replaceAll(HOLE, name)
  }
  for (const [start, end] of isHtml ? seenOf(page) : [[0, page.length] as const]) {
    let nextFrom = start
    for (const { index } of page.slice(start, end).matchAll(STRAY)) {
      if (found.length === most) return found
      const at = start + index
      if (at < nextFrom) continue
      nextFrom = at + AROUND
      found.push(written(Math.max(start, at - AROUND), Math.min(end, nextFrom)))
    }
  }
  return found
}

/** Where a page has text, and what its links refer to. */
function seenOf(page: string): [start: number, end: number][] {
  const stretches: [number, number][] = []
  let isUnseen = false
  readHtml(page, {
    ...openTags(page, ({ name, href }) => {
      isUnseen = UNSEEN.has(name)
      if (href) stretches.push([href.start, href.end])
    }),
    onclosetag() {
      isUnseen = false
    },
    ontext(start, end) {
      if (start >= 0 && !isUnseen) stretches.push([start, end])
    },
  })
  return stretches
}
