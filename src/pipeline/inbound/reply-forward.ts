/** Builds the email for a reply to a received message, or for forwarding it, at the request of its owner. */

import type { ReceivedMailbox } from '../../protocols/mime/read/addresses.ts'
import { type Mailbox, parseForeignAddress } from '../../protocols/smtp/address.ts'
import { newSubmission, type Submission, type SubmittedAttachment } from '../accept/submission.ts'
import { automaticOf, headerOf, isSubmittedByProgram } from './automatic.ts'
import type { ShownInbound } from './find-inbound.ts'
import { ROUNDS_HEADER, ROUNDS_MAX, readRounds } from './rounds.ts'
import type { InboundContent } from './stored-content.ts'
import { inboundRowView, mailboxes } from './view.ts'

export interface ReplyTexts {
  html: string | null
  text: string | null
}

type Message = ShownInbound & InboundContent

const REFERENCES_MAX = 20
const SUBJECT_CHARACTERS_MAX = 950
const MESSAGE_ID = /<[^<>\s]{1,250}>/g

/**
 * Returns the reason why a message must not be answered automatically (RFC 3834 §2); undefined when it may
 * be.
 */
export function answerFault(message: Message): string | undefined {
  if (isSubmittedByProgram(message.headers)) return 'it is an automatic message (Auto-Submitted header)'
  const kind = automaticOf(message.headers)
  if (kind === 'auto-reply' || kind === 'report') return `it is an automatic message (${kind})`
  if (message.sender === '') return 'it has an empty return path'
  return roundsFault(message)
}

/** Returns the reason why a message must not be forwarded; undefined when it may be. */
export function roundsFault(message: Message): string | undefined {
  return roundsOf(message) >= ROUNDS_MAX ? 'it was forwarded or answered too often (mail loop)' : undefined
}

/** Returns the recipients of a reply (RFC 5322 §3.6.2). */
export function replyReferences({ replyToList, fromList }: ShownInbound): Mailbox[] {
  const replyTo = legible(mailboxes(replyToList))
  return replyTo.length > 0 ? replyTo : legible(mailboxes(fromList).slice(0, 1))
}

/** Builds a reply that belongs to the thread of the message (RFC 5322 §3.6.4). */
export function replyTo(message: Message, from: Mailbox, to: Mailbox[], words: ReplyTexts): Submission {
  const references = [
    ...(headerOf(message.headers, 'references') ?? headerOf(message.headers, 'in-reply-to') ?? '').matchAll(
      MESSAGE_ID,
    ),
    ...(message.messageId ?? '').matchAll(MESSAGE_ID),
  ].map(([id]) => id)
  const answered = references.at(-1)
  return newSubmission({
    from,
    to,
    subject: prefixed('Re', message.subject),
    ...words,
    headers: [
      ...(message.messageId !== null && answered !== undefined ? [field('In-Reply-To', answered)] : []),
      ...(references.length > 0 ? [field('References', lastOf(references).join(' '))] : []),
      field(ROUNDS_HEADER, String(roundsOf(message) + 1)),
    ],
  })
}

/** Builds an email with the texts, the original sender and the attachments of the message. */
export function forward(
  message: Message,
  from: Mailbox,
  to: Mailbox[],
  attachments: SubmittedAttachment[],
): Submission {
  const origin = originOf(message)
  return newSubmission({
    from,
    to,
    subject: prefixed('Fwd', message.subject),
    html: message.html === null ? null : `${htmlOf(origin)}${message.html}`,
    text: message.html !== null && message.text === null ? null : `${origin}\n\n${message.text ?? ''}`,
    headers: [field(ROUNDS_HEADER, String(roundsOf(message) + 1))],
    attachments,
  })
}

function field(name: string, value: string): [string, string] {
  return [name, value]
}

function originOf(message: Message): string {
  const { from, to, subject } = inboundRowView(message)
  return [
    '---------- Forwarded message ----------',
    `From: ${from}`,
    `Date: ${new Date(message.createdAt).toUTCString()}`,
    `Subject: ${subject}`,
    `To: ${to.slice(0, 20).join(', ')}`,
  ].join('\n')
}

function htmlOf(text: string): string {
  const escaped = text.replace(/[&<>"]/g, character => `&#${character.codePointAt(0)};`)
  return `<p>${escaped.replaceAll('\n', '<br>\n')}</p>\n`
}

/** Prefixes of replies in the languages of other programs, which may be counted (`Re[2]:`), and repeated. */
const REPLY_PREFIXES =
  /^(?:\s{0,9}(?:re|aw|antw|antwort|sv|vs|ref|rif|res|odp|ynt|回复|答复|回覆)\s?(?:\[\d{1,3}\]|\(\d{1,3}\)|\^\d{1,3})?\s?[:：])+\s*/i
const FORWARD_PREFIX = /^\s*(?:fwd?|wg|tr|rv|enc|vb|vl|doorst|pd)\s?[:：]/i

/** Adds `Re:` in place of the prefixes that the subject has, or `Fwd:` unless it has such a prefix. */
function prefixed(prefix: 'Re' | 'Fwd', subject: string): string {
  const isForwarded = prefix === 'Fwd' && FORWARD_PREFIX.test(subject)
  const bare = prefix === 'Re' ? subject.replace(REPLY_PREFIXES, '') : subject
  const full = isForwarded ? subject : `${prefix}: ${bare}`
  return full.slice(0, SUBJECT_CHARACTERS_MAX).toWellFormed()
}

/** Keeps the first reference and the newest ones, so that threads are recognized by their first message. */
function lastOf(references: readonly string[]): string[] {
  const all = [...new Set(references)]
  return all.length <= REFERENCES_MAX ? all : [all[0]!, ...all.slice(1 - REFERENCES_MAX)]
}

function roundsOf(message: Message): number {
  return readRounds(headerOf(message.headers, ROUNDS_HEADER.toLowerCase()))
}

/** Returns the mailboxes that mail can be sent to. */
export function legible(list: readonly ReceivedMailbox[]): Mailbox[] {
  return list.flatMap(({ name, address }) => {
    const parsed = parseForeignAddress(address)
    return 'fault' in parsed ? [] : [{ ...parsed, name }]
  })
}
