/**
 * Limits of single fields of an email that hold for every interface: HTTP API, SMTP submission, broadcasts.
 */
import { type Refusal, refuseField } from './refusal.ts'

export const SUBJECT_CHARACTERS_MAX = 2_000
const BREAKS = /[\r\n\0]/

/** @returns what is wrong with a subject, as a predicate for a sentence that begins with its name */
export function subjectFault(subject: string): string | undefined {
  if (BREAKS.test(subject)) return 'must not contain CR, LF or NUL'
  return subject.length > SUBJECT_CHARACTERS_MAX
    ? `must contain at most ${SUBJECT_CHARACTERS_MAX} characters; got ${subject.length}`
    : undefined
}

export const TAGS_MAX = 50
const TAGS_BYTES_MAX = 4 * 1024

/** @returns what is wrong with the tags of an email, as a sentence */
export function tagsFault(tags: readonly object[]): string | undefined {
  if (tags.length > TAGS_MAX) return `\`tags\` must contain at most ${TAGS_MAX} entries; got ${tags.length}.`
  const bytes = Buffer.byteLength(JSON.stringify(tags))
  return bytes > TAGS_BYTES_MAX
    ? `\`tags\` must contain at most ${TAGS_BYTES_MAX} bytes of JSON; got ${bytes}.`
    : undefined
}

/**
 * Checks the time of a scheduled email. The rule depends on the present, and so it is not applied to a
 * repeated request.
 * @param at null for an email that is sent at once
 */
export function refuseSendTime(at: number | null, now: number): Refusal | undefined {
  if (at === null) return undefined
  if (at <= now) return refuseField('invalid_field', 'scheduled_at', '`scheduled_at` must be in the future.')
  if (at > yearAfter(now))
    return refuseField('invalid_field', 'scheduled_at', '`scheduled_at` must be at most one year ahead.')
  return undefined
}

function yearAfter(now: number): number {
  const date = new Date(now)
  return date.setUTCFullYear(date.getUTCFullYear() + 1)
}
