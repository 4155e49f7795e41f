/**
 * Splits and joins a message that is stored as a whole: its header, field by field, and its body (RFC 5322
 * §2.1).
 */
import type { HeaderField } from '../smtp/header-field.ts'

const LINE_END = Buffer.from('\r\n')
const HEADER_END = Buffer.from('\r\n\r\n')
/** Matches the end of a field: a line end without a blank behind it. */
const FIELD_END = /\r\n(?![ \t])/

/**
 * Splits a message of `joinMessage`, so that joining the result gives the same octets.
 *
 * @param message message whose header section holds only fields, with lines that end in CRLF, and ends in an
 * empty line
 */
export function splitMessage(message: Buffer): { fields: HeaderField[]; body: Buffer } {
  const end = message.indexOf(HEADER_END)
  if (end < 0) throw new Error('a message without an end of its header')
  const fields = message
    .toString('utf8', 0, end)
    .split(FIELD_END)
    .map(field => {
      const colon = field.indexOf(': ')
      if (colon <= 0) throw new Error('a header with a line that is no field')
      return { name: field.slice(0, colon), value: field.slice(colon + 2) }
    })
  return { fields, body: message.subarray(end + HEADER_END.length) }
}

/** @param fields at least one */
export function joinMessage(fields: readonly HeaderField[], body: Uint8Array): Buffer {
  const header = fields.map(({ name, value }) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([Buffer.from(header), LINE_END, body])
}
