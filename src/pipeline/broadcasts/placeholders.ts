/**
 * Resolves the placeholders of a broadcast against the properties of its account and audience: which unusual
 * keys are placeholders, and which fallbacks apply.
 */
import { fallbacksIn, listDefinitions } from '../../resources/contacts/property-definitions.ts'
import { keysAmong } from '../../resources/contacts/property-keys.ts'
import type { EmailText } from '../../resources/templates/compile.ts'
import { escapeHtml } from '../../resources/templates/escape-html.ts'
import { parseText, writeText } from '../../resources/templates/parse.ts'
import { builtInOf, isAmong, propertyOf } from '../../resources/templates/variables.ts'
import type { Db } from '../../store/model/schema.ts'
import type { StoredBroadcast } from './broadcast-rows.ts'
import { contentToSend, PLACEHOLDERS_MAX } from './texts.ts'
import { type NameTexts, unusualKeys, withNames } from './unusual-names.ts'

export interface Placeholders {
  fallbacks: Fallbacks
  /** Property keys that do not look like names and occur in braces in the broadcast. */
  keys: ReadonlySet<string>
}

/** A key that is only defined, or that no contact has any more, counts too, so that no reader sees braces. */
export async function placeholdersOf(db: Db, broadcast: StoredBroadcast): Promise<Placeholders> {
  const { accountId, audienceId } = broadcast
  const definitions = await listDefinitions(db, accountId)
  const fallbacks = fallbacksIn(definitions)
  const wanted = unusualKeys(broadcast).slice(0, 2 * PLACEHOLDERS_MAX)
  if (wanted.length === 0) return { fallbacks, keys: new Set() }
  const definedKeys = definitions.map(({ key }) => key)
  return { fallbacks, keys: new Set([...definedKeys, ...(await keysAmong(db, audienceId, wanted))]) }
}

/** Returns the content shared by all emails of a broadcast. A part without changes stays the same string. */
export function resolvedContent(
  { subject, html, text, previewText }: NameTexts & { subject: string },
  { fallbacks, keys }: Placeholders,
): EmailText & { subject: string } {
  const named = withNames({ subject, html, text, previewText }, name => isAmong(keys, name))
  return {
    subject: subjectWithFallbacks(named.subject, fallbacks),
    ...withFallbacks(contentToSend(named), fallbacks),
  }
}

/** Fallbacks by property key. */
export type Fallbacks = ReadonlyMap<string, string>

/** Adds fallbacks to placeholders that have none. A part without changes stays the same string. */
export function withFallbacks<W extends Pick<EmailText, 'html' | 'text'>>(
  content: W,
  fallbacks: Fallbacks,
): W {
  if (fallbacks.size === 0) return content
  const { html, text } = content
  return {
    ...content,
    html: html === null ? null : withAddedFallbacks(html, fallbacks, true),
    text: text === null ? null : withAddedFallbacks(text, fallbacks, false),
  }
}

export function subjectWithFallbacks(subject: string, fallbacks: Fallbacks): string {
  return fallbacks.size === 0 ? subject : withAddedFallbacks(subject, fallbacks, false)
}

function withAddedFallbacks(text: string, fallbacks: Fallbacks, isHtml: boolean): string {
  const { literals, placeholders } = parseText(text)
  const added = placeholders.map(({ name, fallback }) =>
    fallback === null && !builtInOf(name) ? fallbacks.get(propertyOf(name)) : undefined,
  )
  if (added.every(one => one === undefined)) return text
  const filledIn = placeholders.map((placeholder, i) => {
    const fallback = added[i]
    if (fallback === undefined) return placeholder
    return { ...placeholder, fallback: isHtml && !placeholder.raw ? escapeHtml(fallback) : fallback }
  })
  return writeText({ literals, placeholders: filledIn })
}
