/** A mailbox as people read it. */

/** `Name <address>`, the name quoted where it has special characters. */
export function mailboxText({ name, address }: { name: string | null; address: string }): string {
  if (name === null) return address
  const plain = !/[()<>[\]:;@\\,"]/.test(name)
  return `${plain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`
}
