/** Finds the placeholders in a text: `{{name}}`, `{{a.b}}`, `{{name|fallback}}` and `{{{name}}}`. */

export interface Placeholder {
  /** As written, without the blanks around it: `user.first_name`. */
  name: string
  path: readonly string[]
  /** What stands for it when there is no value; null when it must have one. */
  fallback: string | null
  /** Three braces: its value goes into HTML as it is. */
  raw: boolean
  /**
   * Its name has characters that names do not have: it is one because the text, or whoever reads it, says so.
   */
  verbatim: boolean
}

export interface ParsedText {
  /** The text between the placeholders, one more than there are of them. */
  literals: string[]
  placeholders: Placeholder[]
}

/** What comes after that many is text; no template that has more is ever stored. */
export const PLACEHOLDERS_MAX = 10_000
/** Braces around anything longer are text. */
const NAME_LENGTH_MAX = 100
const PATH_PART = /^[\p{L}\p{M}\p{N}_-](?:[\p{L}\p{M}\p{N}_ -]*[\p{L}\p{M}\p{N}_-])?$/u
/** Written before a verbatim name; keys of properties have no control characters. */
const VERBATIM = '\u0001'
const OPEN = 0x7b
const CLOSE = 0x7d

/**
 * Braces that make no placeholder are text like any other. The innermost braces count: `{{{{a}}}}` is a raw
 * placeholder between two braces, `{{{a}}` an escaped one after a brace. Reads every character once or twice.
 *
 * @param isName whether a text that does not look like a name is one
 */
export function parseText(text: string, isName?: (text: string) => boolean): ParsedText {
  const literals: string[] = []
  const placeholders: Placeholder[] = []
  let literalFrom = 0
  let at = text.indexOf('{{')
  while (at >= 0 && placeholders.length <= PLACEHOLDERS_MAX) {
    const nameFrom = endOfRun(text, at, OPEN)
    const nameTo = nextBrace(text, nameFrom)
    const closeTo = endOfRun(text, nameTo, CLOSE)
    const braces = Math.min(nameFrom - at, closeTo - nameTo, 3)
    const placeholder =
      braces < 2 ? undefined : readPlaceholder(text.slice(nameFrom, nameTo), braces === 3, isName)
    if (placeholder) {
      literals.push(text.slice(literalFrom, nameFrom - braces))
      placeholders.push(placeholder)
      literalFrom = nameTo + braces
    }
    at = text.indexOf('{{', closeTo)
  }
  literals.push(text.slice(literalFrom))
  return { literals, placeholders }
}

/** The text again, with verbatim names written so that whoever parses it finds them. */
export function writeText({ literals, placeholders }: ParsedText): string {
  return literals
    .map((literal, i) => {
      const placeholder = placeholders[i]
      return placeholder ? literal + written(placeholder) : literal
    })
    .join('')
}

function written(placeholder: Placeholder): string {
  const { name, verbatim } = placeholder
  return placeholderText(verbatim ? { ...placeholder, name: VERBATIM + name } : placeholder)
}

/** As its author wrote it, but for blanks. */
export function placeholderText({ name, fallback, raw }: Placeholder): string {
  const inner = fallback === null ? name : `${name}|${fallback}`
  return raw ? `{{{${inner}}}}` : `{{${inner}}}`
}

function readPlaceholder(
  inner: string,
  raw: boolean,
  isName: ((text: string) => boolean) | undefined,
): Placeholder | undefined {
  const bar = inner.indexOf('|')
  const said = (bar < 0 ? inner : inner.slice(0, bar)).trim()
  const isMarked = said.startsWith(VERBATIM)
  const name = isMarked ? said.slice(VERBATIM.length) : said
  if (name === '' || name.length > NAME_LENGTH_MAX) return undefined
  const fallback = bar < 0 ? null : inner.slice(bar + 1).trim()
  const path = name.split('.')
  if (!isMarked && path.every(part => PATH_PART.test(part)))
    return { name, path, fallback, raw, verbatim: false }
  return isMarked || isName?.(name) ? { name, path: [name], fallback, raw, verbatim: true } : undefined
}

function endOfRun(text: string, from: number, character: number): number {
  let at = from
  while (text.charCodeAt(at) === character) at++
  return at
}

function nextBrace(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === OPEN || character === CLOSE) return at
  }
  return text.length
}
