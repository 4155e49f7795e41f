/**
 * Header fields in the form that the composer makes, the signer signs and the SMTP client sends (RFC 5322
 * §2.2).
 */

export interface HeaderField {
  readonly name: string
  /**
   * The text after `Name: ` on the wire. It is encoded and folded, so it may contain CRLF followed by a
   * blank, and it never ends in CRLF. It is ASCII except for the local part of an address (RFC 6532 §3.2).
   */
  readonly value: string
}

/** Joins fields as `Name: value` CRLF, without the empty line that ends a header. */
export function fieldsText(fields: readonly HeaderField[]): string {
  let text = ''
  for (const { name, value } of fields) text += `${name}: ${value}\r\n`
  return text
}

export function serializeFields(fields: readonly HeaderField[]): Buffer {
  return Buffer.from(fieldsText(fields))
}
