/** Finds the placeholders in a text: `{{name}}`, `{{a.b}}`, `{{name|fallback}}` and `{{{name}}}`. */

export interface Placeholder {
  /** As written, without the blanks around it: `user.first_name`. */
  name: string
  path: readonly string[]
  /** What stands for it when there is no value; null when it must have one. */
  fallback: string | null
  /** Three braces: its value goes into HTML as it is. */
  raw: boolean
}

export interface ParsedText {
  /** The text between the placeholders, one more than there are of them. */
  literals: string[]
  placeholders: Placeholder[]
}

/** What comes after that many is text; no template that has more is ever stored. */
export const MOST_PLACEHOLDERS = 10_000
/** Braces around anything longer are text. */
const LONGEST_NAME = 100
const PATH_PART = /^[\p{L}\p{M}\p{N}_-](?:[\p{L}\p{M}\p{N}_ -]*[\p{L}\p{M}\p{N}_-])?$/u
const OPEN = 0x7b
const CLOSE = 0x7d

/**
 * Braces that make no placeholder are text like any other. The innermost braces count: `{{{{a}}}}` is a raw
 * placeholder between two braces, `{{{a}}` an escaped one after a brace. Reads every character once or twice.
 */
export function parseText(text: string): ParsedText {
  const literals: string[] = []
  const placeholders: Placeholder[] = []
  let literalFrom = 0
  let at = text.indexOf('{{')
  while (at >= 0 && placeholders.length <= MOST_PLACEHOLDERS) {
    const nameFrom = endOfRun(text, at, OPEN)
    const nameTo = nextBrace(text, nameFrom)
    const closeTo = endOfRun(text, nameTo, CLOSE)
    const braces = Math.min(nameFrom - at, closeTo - nameTo, 3)
    const placeholder = braces < 2 ? undefined : readPlaceholder(text.slice(nameFrom, nameTo), braces === 3)
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

function readPlaceholder(inner: string, raw: boolean): Placeholder | undefined {
  const bar = inner.indexOf('|')
  const name = (bar < 0 ? inner : inner.slice(0, bar)).trim()
  if (name.length > LONGEST_NAME) return undefined
  const path = name.split('.')
  if (!path.every(part => PATH_PART.test(part))) return undefined
  return { name, path, fallback: bar < 0 ? null : inner.slice(bar + 1).trim(), raw }
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
