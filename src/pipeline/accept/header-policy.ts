/**
 * Validates the header fields that a user sets. Their names and values cannot forge, duplicate or break the
 * fields that Mailhorn writes.
 */
import { printableAscii } from '../../lib/printable-ascii.ts'
import { isStructured, structuredFault } from '../../protocols/mime/header-text.ts'
import type { Mailbox } from '../../protocols/smtp/address.ts'
import { parseMailboxes } from '../../protocols/smtp/address-list.ts'
import { type Refusal, refuseField } from './refusal.ts'

/** The user's fields, with the two that the composer interprets. */
export interface UserHeaders {
  /**
   * All fields, including `Message-ID` and `Reply-To`, which the composer writes itself, but without
   * structured ones that are empty.
   */
  fields: [name: string, value: string][]
  /** Value of a `Message-ID` field, with angle brackets. */
  messageId: string | null
  /** Mailboxes of a `Reply-To` field. */
  replyTo: Mailbox[] | null
}

const NAME = /^[!-9;-~]+$/
const RESERVED =
  /^(?:bcc|to|cc|from|sender|subject|date|return-path|received|resent-.*|dkim-.*|arc-.*|content-.*|mime-version|authentication-results|delivered-to|x-mailhorn-.*)$/i
const INTERPRETED = /^(?:message-id|reply-to)$/i
/** Printable ASCII except `<`, `>` and `@`. */
const MESSAGE_ID = /^<[!-;=?A-~]+@[!-;=?A-~]+>$/
const FIELDS_MAX = 100
const HEADER_OCTETS_MAX = 64 * 1024
const NAME_CHARACTERS_MAX = 76

/** Reads the `headers` object of a submission. */
export function readHeaders(headers: unknown): UserHeaders | Refusal {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers))
    return refuseField('invalid_field', 'headers', '`headers` must be an object whose values are strings.')
  const fields = Object.entries(headers)
  if (fields.length > FIELDS_MAX)
    return refuseField(
      'invalid_field',
      'headers',
      `\`headers\` must contain at most ${FIELDS_MAX} headers; got ${fields.length}.`,
    )
  const seen = new Set<string>()
  let octets = 0
  for (const [name, value] of fields) {
    const problem = problemOf(name, value, seen)
    if (problem) return refuseField('invalid_field', `headers.${name}`, problem)
    seen.add(name.toLowerCase())
    octets += name.length + Buffer.byteLength(value)
  }
  if (octets > HEADER_OCTETS_MAX)
    return refuseField(
      'invalid_field',
      'headers',
      `\`headers\` must contain at most ${HEADER_OCTETS_MAX} bytes in total; got ${octets}.`,
    )
  return interpret(fields.filter(isMeant))
}

/** An empty value, such as forms send for fields like References, is not allowed there (RFC 5322 §3.6.4). */
function isMeant([name, value]: [string, string]): boolean {
  return value.trim() !== '' || !isStructured(name)
}

function problemOf(name: string, value: unknown, seen: ReadonlySet<string>): string | undefined {
  if (!NAME.test(name) || name.length > NAME_CHARACTERS_MAX)
    return `The header name \`${printableAscii(name, NAME_CHARACTERS_MAX)}\` must contain 1 to ${NAME_CHARACTERS_MAX} printable ASCII characters without spaces and colons.`
  if (RESERVED.test(name)) return reservedMessage(name)
  if (seen.has(name.toLowerCase())) return `The header \`${name}\` must not occur twice.`
  if (typeof value !== 'string') return `The value of the header \`${name}\` must be a string.`
  if (/[\r\n\0]/.test(value)) return `The value of the header \`${name}\` must not contain CR, LF or NUL.`
  const fault = INTERPRETED.test(name) ? undefined : structuredFault(name, value)
  return fault && `The value of the header \`${name}\` ${fault}.`
}

/** What to do instead of setting a reserved header, by its name. */
const INSTEAD = new Map([
  ...['from', 'to', 'cc', 'bcc', 'subject'].map(name => [name, `Use the field \`${name}\`.`] as const),
  ['date', 'The time of sending is set by the service; for a later time, use the field `scheduled_at`.'],
  ['return-path', 'The service sets it for each recipient; bounces are reported by events.'],
])

function reservedMessage(name: string): string {
  const instead = INSTEAD.get(name.toLowerCase())
  const message = `The header \`${name}\` is reserved and cannot be set in \`headers\`.`
  return instead === undefined ? message : `${message} ${instead}`
}

function interpret(entries: [string, string][]): UserHeaders | Refusal {
  const headers: UserHeaders = { fields: entries, messageId: null, replyTo: null }
  for (const [name, value] of entries) {
    const field = name.toLowerCase()
    if (field === 'message-id') {
      if (!MESSAGE_ID.test(value.trim()) || value.length > 900)
        return refuseField(
          'invalid_field',
          `headers.${name}`,
          `The header \`${name}\` must have the form \`<local@domain>\`.`,
        )
      headers.messageId = value.trim()
    } else if (field === 'reply-to') {
      const mailboxes = parseMailboxes(value)
      if ('fault' in mailboxes)
        return refuseField(
          'invalid_field',
          `headers.${name}`,
          `The address in \`${name}\` ${mailboxes.fault}.`,
        )
      headers.replyTo = mailboxes
    }
  }
  return headers
}
