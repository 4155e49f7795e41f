/** A message that is kept as a whole: its header, field by field, and its body (RFC 5322 §2.1). */
import type { HeaderField } from '../smtp/header-field.ts'

const LINE_END = Buffer.from('\r\n')
const HEADER_END = Buffer.from('\r\n\r\n')
/** The end of a field: a line end that no blank follows. */
const FIELD_END = /\r\n(?![ \t])/

/**
 * Takes apart what `joinMessage` has put together; joined again it is the same octets.
 * @param message whose header has nothing but fields, with lines that end in CRLF; an empty line ends it
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
