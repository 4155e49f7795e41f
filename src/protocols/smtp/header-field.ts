/**
 * Header fields as the composer makes them, the signer signs them and the client sends them (RFC 5322
 * §2.2).
 */

export interface HeaderField {
  readonly name: string
  /**
   * What follows `Name: ` on the wire: encoded and folded already, so it may hold CRLF + blank, and never
   * ends in CRLF. ASCII, but for the non-ASCII local part of an address (RFC 6532 §3.2).
   */
  readonly value: string
}

/** `Name: value` CRLF for each field, without the empty line that ends a header. */
export function fieldsText(fields: readonly HeaderField[]): string {
  let text = ''
  for (const { name, value } of fields) text += `${name}: ${value}\r\n`
  return text
}

/** The octets of `fieldsText`. */
export function serializeFields(fields: readonly HeaderField[]): Buffer {
  return Buffer.from(fieldsText(fields))
}
