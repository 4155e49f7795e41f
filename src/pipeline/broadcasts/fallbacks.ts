/**
 * Puts the fallbacks of an account's properties where a broadcast names one and says none of its own. Pure.
 */
import type { EmailText } from '../../resources/templates/compile.ts'
import { escapeHtml } from '../../resources/templates/escape-html.ts'
import { parseText, writeText } from '../../resources/templates/parse.ts'
import { builtInOf, propertyOf } from '../../resources/templates/variables.ts'

/** By the keys of properties. */
export type Fallbacks = ReadonlyMap<string, string>

/** A part in which nothing is to be put stays the same text. */
export function withFallbacks<W extends Pick<EmailText, 'html' | 'text'>>(words: W, fallbacks: Fallbacks): W {
  if (fallbacks.size === 0) return words
  const { html, text } = words
  return {
    ...words,
    html: html === null ? null : filled(html, fallbacks, true),
    text: text === null ? null : filled(text, fallbacks, false),
  }
}

export function subjectWithFallbacks(subject: string, fallbacks: Fallbacks): string {
  return fallbacks.size === 0 ? subject : filled(subject, fallbacks, false)
}

function filled(text: string, fallbacks: Fallbacks, isHtml: boolean): string {
  const { literals, placeholders } = parseText(text)
  const added = placeholders.map(({ name, fallback }) =>
    fallback === null && !builtInOf(name) ? fallbacks.get(propertyOf(name)) : undefined,
  )
  if (added.every(one => one === undefined)) return text
  const places = placeholders.map((place, i) => {
    const own = added[i]
    return own === undefined ? place : { ...place, fallback: isHtml && !place.raw ? escapeHtml(own) : own }
  })
  return writeText({ literals, placeholders: places })
}
