/** Lists of mailboxes in header fields (RFC 5322 §3.4). */
import { type AddressFault, type Mailbox, parseHeaderMailbox } from './address.ts'

/**
 * Parses mailboxes that are separated by commas outside quotes. The first invalid mailbox makes the list
 * invalid.
 */
export function parseMailboxes(text: string): Mailbox[] | AddressFault {
  const mailboxes: Mailbox[] = []
  for (const part of splitAtCommas(text)) {
    if (part.trim() === '') continue
    const mailbox = parseHeaderMailbox(part)
    if ('fault' in mailbox) return mailbox
    mailboxes.push(mailbox)
  }
  return mailboxes.length === 0 ? { fault: 'is empty' } : mailboxes
}

function splitAtCommas(value: string): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < value.length; at++) {
    const character = value[at]
    if (character === '"') quoted = !quoted
    else if (character === '\\' && quoted) at++
    else if (character === ',' && !quoted) {
      parts.push(value.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, value.slice(start)]
}
