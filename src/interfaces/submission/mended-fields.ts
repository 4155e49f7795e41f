/**
 * Mends header fields of a submitted message that receivers would count against it, as RFC 6409 §8 allows. A
 * field that is valid stays as it is.
 */
import { formatDate, parseDate, withoutComments } from '../../protocols/mime/date.ts'
import { isStructured, userText } from '../../protocols/mime/header-text.ts'
import { decodeWords } from '../../protocols/mime/read/encoded-words.ts'
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

/** RFC 2045 §4, without comments. */
const MIME_VERSION = /^1\s*\.\s*0$/

/**
 * A message that its sender has signed by DKIM gets only what RFC 5322 §3.6 requires, since further changes
 * could make the signature invalid.
 *
 * @param fields fields with folded values; those of RFC 5322 §3.6 occur at most once
 */
export function mendedFields(fields: readonly HeaderField[], replacements: Replacements): HeaderField[] {
  const { now, messageId } = replacements
  const dated = withField(fields, 'Date', value => isUsableDate(value, now), formatDate(now))
  const named = withField(dated, 'Message-ID', value => idIn(value) !== undefined, messageId)
  if (named.some(({ name }) => isNamed(name, 'DKIM-Signature'))) return named
  const addressed = named.filter(field => isMeant(field) && !isEmptyRecipients(field)).map(withTrimmedSubject)
  if (!addressed.some(({ name }) => /^(?:content-.*|mime-version)$/i.test(name))) return addressed
  const isVersion = (value: string) => MIME_VERSION.test(withoutComments(value).trim())
  return withField(addressed, 'MIME-Version', isVersion, '1.0')
}

/** Replaces the value of a field that is not valid, and adds the field if it is missing. */
function withField(
  fields: readonly HeaderField[],
  name: string,
  isValid: (value: string) => boolean,
  value: string,
): HeaderField[] {
  if (!fields.some(field => isNamed(field.name, name))) return [...fields, { name, value }]
  return fields.map(field =>
    !isNamed(field.name, name) || isValid(unfold(field.value)) ? field : { ...field, value },
  )
}

/** An empty value is not allowed in fields with a grammar, such as References (RFC 5322 §3.6.4). */
function isMeant({ name, value }: HeaderField): boolean {
  return unfold(value) !== '' || !(isStructured(name) || isNamed(name, 'Sender'))
}

/**
 * Empty recipient fields are left out. Without any recipient field, each recipient is named in their own copy
 * (`composed.ts`).
 */
function isEmptyRecipients({ name, value }: HeaderField): boolean {
  return /^(?:to|cc)$/i.test(name) && unfold(value) === ''
}

/** Removes blanks around the subject, also encoded ones. */
function withTrimmedSubject(field: HeaderField): HeaderField {
  if (!isNamed(field.name, 'Subject')) return field
  const value = field.value.trim()
  const text = decodeWords(unfold(value))
  return { ...field, value: text === text.trim() ? value : userText('Subject', text) }
}

function isNamed(name: string, wanted: string): boolean {
  return name.toLowerCase() === wanted.toLowerCase()
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
