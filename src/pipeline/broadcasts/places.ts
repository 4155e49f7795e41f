/**
 * The places of a broadcast, as its account and its audience make them: what is a property's, and what stands
 * for one that is missing.
 */
import { fallbacksIn, listDefinitions } from '../../resources/contacts/property-definitions.ts'
import { keysAmong } from '../../resources/contacts/property-keys.ts'
import type { EmailText } from '../../resources/templates/compile.ts'
import { isAmong } from '../../resources/templates/variables.ts'
import type { Db } from '../../store/schema.ts'
import type { StoredBroadcast } from './broadcast-rows.ts'
import { type Fallbacks, subjectWithFallbacks, withFallbacks } from './fallbacks.ts'
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
