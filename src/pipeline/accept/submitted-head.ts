/**
 * Splits the header section of a message that is sent as it is into its fields, as the sender wrote them (RFC
 * 5322 §2.2). Input that receivers could read differently is refused. Called by SMTP submission and by routes
 * that forward received mail.
 */
import { decodeText } from '../../protocols/mime/read/charset.ts'
import { readHead } from '../../protocols/mime/read/head.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'
import type { Refusal } from './refusal.ts'

const LF = 0x0a
const FIELDS_MAX = 1_000
const HEADER_BYTES_MAX = 256 * 1024
const NAME_CHARACTERS_MAX = 76
/** One field and one octet more than allowed are read, so that a surplus is noticed. */
const LIMITS = {
  fieldsMax: FIELDS_MAX + 1,
  headerBytesMax: HEADER_BYTES_MAX + 1,
  valueBytesMax: HEADER_BYTES_MAX + 1,
}

/**
 * @param message with lines that end in CRLF
 * @returns values as text (UTF-8, RFC 6532, or the charset of older programs), still folded and encoded; the
 * body is the rest of the message
 */
export function readSubmittedHead(message: Buffer): { fields: HeaderField[]; body: Buffer } | Refusal {
  const { head, bodyAt, otherLineAt } = readHead(message, 0, message.length, undefined, LIMITS)
  const fields = head.foldedFields()
  if (bodyAt > HEADER_BYTES_MAX) return refuse(`The header is larger than ${HEADER_BYTES_MAX / 1024} KB.`)
  if (fields.length > FIELDS_MAX) return refuse(`The header has more than ${FIELDS_MAX} fields.`)
  const unusable = fields.find(({ name }) => name.length > NAME_CHARACTERS_MAX)?.at
  const badLineAt = unusable ?? otherLineAt
  if (badLineAt !== undefined)
    return refuse(`Line ${lineAt(message, badLineAt)} of the header is not a header field.`)
  return {
    fields: fields.map(({ name, value }) => ({
      name,
      value: decodeText(withoutBlankLines(value), undefined),
    })),
    body: message.subarray(bodyAt),
  }
}

/**
 * Removes the blank before the value, and lines of blanks, which end the header for some readers (RFC 5322
 * §4.2).
 */
function withoutBlankLines(value: string): string {
  const [first, ...others] = value.replace(/^[ \t]/, '').split('\r\n')
  return [first, ...others.filter(line => line.trim() !== '')].join('\r\n')
}

/** Returns the number of the line at a position, counted from 1. */
function lineAt(message: Buffer, position: number): number {
  let line = 1
  for (let at = message.indexOf(LF); at >= 0 && at < position; at = message.indexOf(LF, at + 1)) line += 1
  return line
}

function refuse(message: string): Refusal {
  return { refused: 'invalid_field', message }
}
