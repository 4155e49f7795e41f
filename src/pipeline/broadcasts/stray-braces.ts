/** Finds braces in a broadcast that are not part of a placeholder, so that readers would see them. Pure. */

import { openTags, readHtml } from '../../protocols/mime/html/read-html.ts'
import { parseText, placeholderText } from '../../resources/templates/parse.ts'
import { HOLE } from '../tracking/rewrite-plan-cache.ts'
import { mayBeKey } from './unusual-names.ts'

/** Double braces, and a single brace directly beside a placeholder. */
const STRAY = new RegExp(`\\{\\{|\\}\\}|\\{${HOLE}|${HOLE}\\}`, 'g')
/** Elements whose content contains braces and is not shown. */
const HIDDEN_ELEMENTS = new Set(['style', 'script'])
/** Number of characters of context on either side. */
const CONTEXT_CHARACTERS = 20

/**
 * Text in braces that may be a property key counts as a placeholder.
 * @param foundMax is the number of results after which the search ends
 * @returns the braces with their context, in the order of the text; neighbouring ones are one result
 */
export function strayBraces(text: string, isHtml: boolean, foundMax: number): string[] {
  const { literals, placeholders } = parseText(text, mayBeKey)
  const page = literals.join(HOLE)
  const found: string[] = []
  let hole = 0
  let holeAt = page.indexOf(HOLE)
  /** The text with placeholders as written. Calls must be in ascending order. */
  const written = (start: number, end: number) => {
    for (; holeAt >= 0 && holeAt < start; holeAt = page.indexOf(HOLE, holeAt + 1)) hole++
    let next = hole
    const name = (character: string) => {
      const placeholder = placeholders[next++]
      return placeholder ? placeholderText(placeholder) : character
    }
    return page.slice(start, end).toWellFormed().replaceAll(HOLE, name)
  }
  for (const [start, end] of isHtml ? visibleRanges(page) : [[0, page.length] as const]) {
    let nextFrom = start
    for (const { index } of page.slice(start, end).matchAll(STRAY)) {
      if (found.length === foundMax) return found
      const at = start + index
      if (at < nextFrom) continue
      nextFrom = at + CONTEXT_CHARACTERS
      found.push(written(Math.max(start, at - CONTEXT_CHARACTERS), Math.min(end, nextFrom)))
    }
  }
  return found
}

/** Ranges of the page that readers see: text and link targets. */
function visibleRanges(page: string): [start: number, end: number][] {
  const ranges: [number, number][] = []
  let isHidden = false
  readHtml(page, {
    ...openTags(page, ({ name, href }) => {
      isHidden = HIDDEN_ELEMENTS.has(name)
      if (href) ranges.push([href.start, href.end])
    }),
    onclosetag() {
      isHidden = false
    },
    ontext(start, end) {
      if (start >= 0 && !isHidden) ranges.push([start, end])
    },
  })
  return ranges
}
