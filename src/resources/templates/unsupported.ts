/**
 * Finds tags of other template languages, and placeholders that are not closed. Without this check they would
 * reach readers as they are.
 */

interface UnsupportedTag {
  /** Clause that names the tag, its position and the reason. */
  fault: string
  /** Line in the text, from 1. */
  line: number
}

const SHOWN_LENGTH_MAX = 40
/** Two or more opening braces, or the start of a tag of Jinja, Liquid or Twig. */
const START = /\{\{+|\{%[-~+]?\s{0,20}[a-z]/gi
/** First characters of blocks, partials, comments and the like (Handlebars, Mustache). */
const MARKS = '#/^>&!~=*@'
/** `else` of Handlebars, and conditions of Go templates. */
const KEYWORD = /^(?:else(?:\s|$)|(?:if|range|with|template|block)\s+[.$("])/
/** A filter with its argument, such as `default: "there"`, perhaps behind others. */
const FILTER = /(?:^|\|)\s{0,20}(?:default\s{0,20}[:(]|[a-z]\w{0,20}:\s{0,20}["'“])/i
/** A field of Go templates, or marks that remove blanks. */
const NO_NAME = /^(?:\.\w|-\s)/
const NAME_START = /^[\p{L}_]/u
const ONLY_NAMES = 'only `{{name}}` and `{{name|fallback}}` are supported'

/** Returns the first one. Every character is read a constant number of times. */
export function unsupportedTag(text: string): UnsupportedTag | undefined {
  return unsupportedTags(text, 1)[0]
}

/** Returns the first ones, in the order of the text. */
export function unsupportedTags(text: string, tagsMax: number): UnsupportedTag[] {
  const found: UnsupportedTag[] = []
  let from = 0
  for (const { index, 0: start } of text.matchAll(START)) {
    if (found.length === tagsMax) break
    if (index < from) continue
    if (start[1] === '%') {
      found.push(tagAt(text, index, ONLY_NAMES))
      continue
    }
    const nameFrom = index + start.length
    let nameTo = nameFrom
    while (nameTo < text.length && text[nameTo] !== '{' && text[nameTo] !== '}') nameTo++
    from = nameTo
    const reason = reasonOf(text.slice(nameFrom, nameTo).trim(), text.startsWith('}}', nameTo))
    if (reason) found.push(tagAt(text, index, reason))
  }
  return found
}

function reasonOf(inner: string, isClosed: boolean): string | undefined {
  if (inner !== '' && MARKS.includes(inner[0]!)) return ONLY_NAMES
  if (!isClosed) return NAME_START.test(inner) ? 'it is not closed by `}}`' : undefined
  if (NO_NAME.test(inner)) return 'names of variables begin with a letter'
  if (KEYWORD.test(inner)) return ONLY_NAMES
  const bar = inner.indexOf('|')
  if (bar < 0 || !FILTER.test(inner.slice(bar + 1).trim())) return undefined
  return 'there are no filters. Write a fallback as `{{name|fallback}}`'
}

function tagAt(text: string, at: number, reason: string): UnsupportedTag {
  let line = 1
  let lineFrom = 0
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1)) {
    line++
    lineFrom = next + 1
  }
  const end = text.slice(at, at + SHOWN_LENGTH_MAX).search(/[\r\n]|\}\}|%\}/)
  const shown = text.slice(
    at,
    at + (end < 0 ? SHOWN_LENGTH_MAX : end + (/[}%]/.test(text[at + end]!) ? 2 : 0)),
  )
  const position = `line ${line}, column ${at - lineFrom + 1}`
  return { fault: `contains \`${shown.toWellFormed()}\` at ${position}: ${reason}`, line }
}
