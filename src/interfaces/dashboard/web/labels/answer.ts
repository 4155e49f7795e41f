/** Fields of a reply to a received message. */
import type { Inbound } from '../api/types.ts'
import { mailboxesIn } from './mailboxes.ts'
import { addressIn, domainIn } from './places.ts'
import { dayAndTime } from './time.ts'

type Answered = Pick<
  Inbound,
  'from' | 'to' | 'cc' | 'reply_to' | 'received_for' | 'subject' | 'headers' | 'message_id' | 'created_at'
>

const REFERENCES_MAX = 20
const QUOTED_CHARACTERS_MAX = 20_000
const MESSAGE_ID = /<[^<>\s]{1,250}>/g

/**
 * Returns the address that received the message and can send; empty if there is none.
 *
 * @param domains names of verified domains
 */
export function answeringAddress({ received_for }: Answered, domains: readonly string[]): string {
  return received_for.find(address => domains.includes(domainIn(address))) ?? ''
}

/**
 * Returns the recipients of a reply (RFC 5322 §3.6.3), separated by commas.
 *
 * @param isToAll whether the other recipients of the message get a copy
 */
export function answeredMailboxes(message: Answered, isToAll: boolean): { to: string; cc: string } {
  const to = message.reply_to.length > 0 ? message.reply_to : [message.from]
  const known = new Set([...to, ...message.received_for].map(foldedAddress))
  const others = [...message.to, ...message.cc].filter(mailbox => {
    const address = foldedAddress(mailbox)
    const isNew = !known.has(address)
    known.add(address)
    return isNew
  })
  return { to: to.join(', '), cc: isToAll ? others.join(', ') : '' }
}

export function answerSubject({ subject }: Answered): string {
  return /^\s*re\s?:/i.test(subject) ? subject.trim() : `Re: ${subject}`
}

/**
 * Returns the fields that keep a reply in the conversation (RFC 5322 §3.6.4). Of many references, the first
 * one and the newest ones are kept.
 */
export function answerHeaders({ headers, message_id }: Answered): Record<string, string> {
  const [answered] = message_id?.match(MESSAGE_ID) ?? []
  const earlier = [headers.references, headers['in-reply-to']].find(values => values?.some(Boolean)) ?? []
  const all = [...new Set([...(earlier.join(' ').match(MESSAGE_ID) ?? []), ...(answered ? [answered] : [])])]
  const kept = all.length <= REFERENCES_MAX ? all : [all[0]!, ...all.slice(1 - REFERENCES_MAX)]
  return {
    ...(answered && { 'In-Reply-To': answered }),
    ...(kept.length > 0 && { References: kept.join(' ') }),
  }
}

/** Returns the text of a message as a quotation, with empty lines above it. */
export function quotation({ from, created_at }: Answered, text: string): string {
  const words = text.replaceAll('\r\n', '\n').trim().slice(0, QUOTED_CHARACTERS_MAX)
  if (words === '') return ''
  const lines = words.split('\n').map(line => (line.startsWith('>') ? `>${line}` : `> ${line}`))
  return `\n\nOn ${dayAndTime(created_at)}, ${from} wrote:\n${lines.join('\n')}`
}

function foldedAddress(mailbox: string): string {
  return addressIn(mailboxesIn(mailbox)[0] ?? mailbox).toLowerCase()
}
