/**
 * Reads the addresses of submitted messages as those of received ones are read, since devices and scripts
 * write forms that cannot be changed there: comments, obsolete forms (RFC 5322 §4.4), names with commas
 * outside quotes, and local parts that lack only their quotes.
 */
import { mailboxList } from '../../protocols/mime/mailbox-list.ts'
import { mailboxesOf } from '../../protocols/mime/read/addresses.ts'
import { unfold } from '../../protocols/mime/read/head.ts'
import { type Mailbox, parseForeignAddress } from '../../protocols/smtp/address.ts'
import { parseMailboxes } from '../../protocols/smtp/address-list.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'

/**
 * Returns the mailboxes of a value; text that is not an address is left out.
 *
 * @param value unfolded value as text
 */
export function legibleMailboxes(value: string): Mailbox[] {
  return readAs(value).filter(mailbox => mailbox !== undefined)
}

/**
 * Rewrites a From field that is not in the plain form of RFC 5322 §3.4, so that every reader finds the author
 * whose domain was checked. A field with text that is not an address stays as it is, and is refused.
 */
export function withPlainFrom(field: HeaderField): HeaderField {
  if (field.name.toLowerCase() !== 'from') return field
  const value = unfold(field.value)
  if (!('fault' in parseMailboxes(value))) return field
  const mailboxes = readAs(value)
  const isLegible = mailboxes.length > 0 && mailboxes.every(mailbox => mailbox !== undefined)
  return isLegible ? { name: field.name, value: mailboxList(field.name, mailboxes) } : field
}

/** @returns undefined for addresses that are not valid */
function readAs(value: string): (Mailbox | undefined)[] {
  const octets = Buffer.from(value).toString('latin1')
  return mailboxesOf(octets).map(({ name, address }) => {
    const parsed = parseForeignAddress(address)
    return 'fault' in parsed ? undefined : { ...parsed, name }
  })
}
