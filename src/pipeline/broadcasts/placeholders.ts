/**
 * The places of a broadcast, as its account and its audience make them: what is a property's, and what stands
 * for one that is missing.
 */
import { fallbacksIn, listDefinitions } from '../../resources/contacts/property-definitions.ts'
import { keysAmong } from '../../resources/contacts/property-keys.ts'
import type { EmailText } from '../../resources/templates/compile.ts'
import { escapeHtml } from '../../resources/templates/escape-html.ts'
import { parseText, writeText } from '../../resources/templates/parse.ts'
import { builtInOf, isAmong, propertyOf } from '../../resources/templates/variables.ts'
import type { Db } from '../../store/schema.ts'
import type { StoredBroadcast } from './broadcast-rows.ts'
import { contentToSend, PLACEHOLDERS_MAX } from './texts.ts'
import { type NameTexts, unusualKeys, withNames } from './unusual-names.ts'

export interface Places {
  fallbacks: Fallbacks
  /** Keys that do not look like names, and are in braces somewhere in the broadcast. */
  keys: ReadonlySet<string>
}

/**
 * A key that no contact has any more makes a place, too, and so does one that is only described: nobody is to
 * read the braces.
 */
export async function placesOf(db: Db, broadcast: StoredBroadcast): Promise<Places> {
  const { accountId, audienceId } = broadcast
  const definitions = await listDefinitions(db, accountId)
  const fallbacks = fallbacksIn(definitions)
  const wanted = unusualKeys(broadcast).slice(0, 2 * PLACEHOLDERS_MAX)
  if (wanted.length === 0) return { fallbacks, keys: new Set() }
  const described = definitions.map(({ key }) => key)
  return { fallbacks, keys: new Set([...described, ...(await keysAmong(db, audienceId, wanted))]) }
}

/**
 * What the emails of a broadcast have in common. A part in which nothing is to be changed stays the same
 * text.
 */
export function settledWords(
  { subject, html, text, previewText }: NameTexts & { subject: string },
  { fallbacks, keys }: Places,
): EmailText & { subject: string } {
  const words = withNames({ subject, html, text, previewText }, name => isAmong(keys, name))
  return {
    subject: subjectWithFallbacks(words.subject, fallbacks),
    ...withFallbacks(contentToSend(words), fallbacks),
  }
}

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
