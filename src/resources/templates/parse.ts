/** Finds the placeholders in a text: `{{name}}`, `{{a.b}}`, `{{name|fallback}}` and `{{{name}}}`. */

export interface Placeholder {
  /** Name as written, without surrounding blanks: `user.first_name`. */
  name: string
  path: readonly string[]
  /** Text used if there is no value; null if a value is required. */
  fallback: string | null
  /** True for three braces: the value is inserted into HTML unescaped. */
  raw: boolean
  /**
   * True if the name has characters that names usually do not have. It is a placeholder because the text
   * marks it or the caller knows the name.
   */
  verbatim: boolean
}

export interface ParsedText {
  /** Text between the placeholders, one more than there are placeholders. */
  literals: string[]
  placeholders: Placeholder[]
}

/** Further placeholders are treated as text. No stored template has more. */
export const PLACEHOLDERS_MAX = 10_000
/** Braces around a longer text are treated as text. */
const NAME_LENGTH_MAX = 100
const PATH_PART = /^[\p{L}\p{M}\p{N}_-](?:[\p{L}\p{M}\p{N}_ -]*[\p{L}\p{M}\p{N}_-])?$/u
/** Precedes a verbatim name. Keys of properties contain no control characters. */
const VERBATIM = '\u0001'
const OPEN = 0x7b
const CLOSE = 0x7d

/**
 * Parses a text. Braces that form no placeholder are text. The innermost braces count: `{{{{a}}}}` is a raw
 * placeholder between two braces, `{{{a}}` an escaped one after a brace. The parser reads every character
 * once or twice.
 *
 * @param isName tells whether a text that does not look like a name is one
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

/** Writes a parsed text so that parsing it again finds verbatim names. */
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

/** Formats a placeholder as its author wrote it, except for blanks. */
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
  const label = (bar < 0 ? inner : inner.slice(0, bar)).trim()
  const isMarked = label.startsWith(VERBATIM)
  const name = isMarked ? label.slice(VERBATIM.length) : label
  if (name === '' || name.length > NAME_LENGTH_MAX) return undefined
  const fallback = bar < 0 ? null : inner.slice(bar + 1).trim()
  const path = name.split('.')
  if (!isMarked && path.every(part => PATH_PART.test(part)))
    return { name, path, fallback, raw, verbatim: false }
  return isMarked || isName?.(name) ? { name, path: [name], fallback, raw, verbatim: true } : undefined
}

/** Tells whether a text between braces is the name of a variable, in any template. */
export function isVariableName(text: string): boolean {
  const placeholder = readPlaceholder(text, false, undefined)
  return placeholder?.name === text && !placeholder.verbatim
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
