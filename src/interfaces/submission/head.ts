/**
 * Splits the header section of a submitted message into its fields, as the sender wrote them (RFC 5322
 * §2.2).
 */
import type { Refusal } from '../../pipeline/accept/refusal.ts'
import { decodeText } from '../../protocols/bounces/parts/charset.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'

const FIELD = /^([!-9;-~]+)[ \t]*:[ \t]?(.*)$/s
/** The first line of a mailbox file, which local programs leave in place. */
const MBOX_LINE = /^>?From (?![ \t]*:)/
const FIELDS_MAX = 1_000
const OCTETS_MAX = 256 * 1024
const NAME_LENGTH_MAX = 76

/**
 * @param message with lines that end in CRLF
 * @returns values as text (UTF-8, RFC 6532, or what old programs write), still folded and encoded; the body
 * is the rest of the message
 */
export function readSubmittedHead(message: Buffer): { fields: HeaderField[]; body: Buffer } | Refusal {
  const bodyAt = bodyStart(message)
  if (bodyAt > OCTETS_MAX) return refuse(`The header is larger than ${OCTETS_MAX / 1024} KB.`)
  const lines = message.toString('latin1', 0, bodyAt).split('\r\n')
  const fields: { name: string; value: string }[] = []
  for (const [index, line] of lines.entries()) {
    const last = fields.at(-1)
    if (line === '' || (index === 0 && MBOX_LINE.test(line))) continue
    if (last && /^[ \t]/.test(line)) {
      // A line of blanks would end the header for some readers (RFC 5322 §4.2).
      if (line.trim() !== '') last.value += `\r\n${line}`
      continue
    }
    const [, name, value] = FIELD.exec(line) ?? []
    if (name === undefined || name.length > NAME_LENGTH_MAX)
      return refuse(`Line ${index + 1} of the header is not a header field.`)
    fields.push({ name, value: value! })
    if (fields.length > FIELDS_MAX) return refuse(`The header has more than ${FIELDS_MAX} fields.`)
  }
  return {
    fields: fields.map(({ name, value }) => ({ name, value: decodeText(value, undefined) })),
    body: message.subarray(bodyAt),
  }
}

function bodyStart(message: Buffer): number {
  if (message[0] === 0x0d && message[1] === 0x0a) return 2
  const end = message.indexOf('\r\n\r\n')
  return end < 0 ? message.length : end + 4
}

function refuse(message: string): Refusal {
  return { refused: 'invalid_field', message }
}
