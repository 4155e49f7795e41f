/**
 * Mends header fields of a submitted message that receivers would count against it, as RFC 6409 §8 allows. A
 * field that is valid stays as it is.
 */
import { formatDate, parseDate, withoutComments } from '../../protocols/mime/date.ts'
import { unfold } from '../../protocols/mime/read/head.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'

export interface Replacements {
  /** Time of the submission, in ms since the epoch. */
  now: number
  /** Message-ID with angle brackets. */
  messageId: string
}

const DAY_MS = 24 * 3_600_000
/** A Date further ahead comes from a wrong clock. */
const DATE_AHEAD_MS_MAX = DAY_MS
/** An older Date comes from a clock that has lost its time. */
const DATE_AGE_MS_MAX = 365 * DAY_MS
/** RFC 5322 §3.6.4, without blanks; the part in front of the last `@` may be quoted. */
const MESSAGE_ID = /^<(?:"[!-~]{1,500}"|[!-;=?A-~]{1,500})@[!-;=?A-~]{1,500}>$/
const ID_CHARACTERS_MAX = 900

/** @param fields fields with folded values; Date and Message-ID occur at most once */
export function mendedFields(fields: readonly HeaderField[], replacements: Replacements): HeaderField[] {
  const { now, messageId } = replacements
  const mended = fields.map(field => {
    const value = unfold(field.value)
    const key = field.name.toLowerCase()
    if (key === 'date' && !isUsableDate(value, now)) return { ...field, value: formatDate(now) }
    if (key === 'message-id' && idIn(value) === undefined) return { ...field, value: messageId }
    return field
  })
  const has = (name: string) => fields.some(field => field.name.toLowerCase() === name)
  if (!has('date')) mended.push({ name: 'Date', value: formatDate(now) })
  if (!has('message-id')) mended.push({ name: 'Message-ID', value: messageId })
  return mended
}

/**
 * Returns the valid message id of an unfolded Message-ID field, without comments. Blanks in its quoted part,
 * which RFC 5322 §4.5.4 counts as obsolete, are not allowed.
 */
export function idIn(value: string): string | undefined {
  const id = withoutComments(value).trim()
  return id.length <= ID_CHARACTERS_MAX && MESSAGE_ID.test(id) ? id : undefined
}

/** The Date field says when the sender finished the message (RFC 5322 §3.6.1), which may be days ago. */
function isUsableDate(value: string, now: number): boolean {
  const date = parseDate(value)
  return date !== undefined && date <= now + DATE_AHEAD_MS_MAX && date >= now - DATE_AGE_MS_MAX
}
