/** Reads and writes lists of addresses in forms. The API checks the addresses. */

/** Splits a list at its commas, except at those in quoted names: `"Smith, Ann" <ann@there.example>`. */
export function mailboxesIn(text: string): string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*"|[^,])+/g) ?? []
  return parts.map(part => part.trim()).filter(part => part !== '')
}

/** Writes an address with its display name, which may be empty, in quotes (RFC 5322 §3.2.4). */
export function mailboxText(name: string, address: string): string {
  const bare = name.trim()
  return bare === '' ? address : `"${bare.replaceAll(/["\\]/g, '\\$&')}" <${address}>`
}
