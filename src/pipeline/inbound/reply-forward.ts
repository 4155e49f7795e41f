/** Builds the email for a reply to a received message, or for forwarding it, at the request of its owner. */

import type { ReceivedMailbox } from '../../protocols/mime/read/addresses.ts'
import { type Mailbox, parseAddress } from '../../protocols/smtp/address.ts'
import { newSubmission, type Submission, type SubmittedAttachment } from '../accept/submission.ts'
import type { ShownInbound } from './find-inbound.ts'
import type { InboundContent } from './stored-content.ts'
import { inboundRowView, mailboxes } from './view.ts'

/**
 * Says how often a message has been passed on or answered by us: machines at both ends could go on for ever.
 */
const ANSWERED_HEADER = 'X-Mailhorn-Answered'

export interface ReplyTexts {
  html: string | null
  text: string | null
}

type Message = ShownInbound & InboundContent

const FORWARDS_MAX = 10
const REFERENCES_MAX = 20
const SUBJECT_CHARACTERS_MAX = 950
const MESSAGE_ID = /<[^<>\s]{1,250}>/g

/**
 * Why it is not to be answered: programs must not answer programs (RFC 3834 §2); undefined when it may be.
 */
export function answerFault(message: Message): string | undefined {
  const automatic = headerOf(message, 'auto-submitted')
  if (automatic !== undefined && !/^\s*no\b/i.test(automatic))
    return 'it is an automatic message (Auto-Submitted header)'
  if (message.sender === '') return 'it has an empty return path'
  return roundsFault(message)
}

/** Why it is not to be passed on. */
export function roundsFault(message: Message): string | undefined {
  return roundsOf(message) >= FORWARDS_MAX ? 'it was forwarded or answered too often (mail loop)' : undefined
}

/** Whom an answer goes to (RFC 5322 §3.6.2). */
export function replyReferences({ replyToList, fromList }: ShownInbound): Mailbox[] {
  const asked = legible(mailboxes(replyToList))
  return asked.length > 0 ? asked : legible(mailboxes(fromList)).slice(0, 1)
}

/** Builds a reply that belongs to the thread of the message (RFC 5322 §3.6.4). */
export function replyTo(message: Message, from: Mailbox, to: Mailbox[], words: ReplyTexts): Submission {
  const references = [
    ...(headerOf(message, 'references') ?? headerOf(message, 'in-reply-to') ?? '').matchAll(MESSAGE_ID),
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
      field(ANSWERED_HEADER, String(roundsOf(message) + 1)),
    ],
  })
}

/** With what it says, who said it, and its files. */
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
    headers: [field(ANSWERED_HEADER, String(roundsOf(message) + 1))],
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

/** Once, however often it goes to and fro. */
function prefixed(prefix: 'Re' | 'Fwd', subject: string): string {
  const known = prefix === 'Re' ? /^\s*re\s*:/i : /^\s*fwd?\s*:/i
  const full = known.test(subject) ? subject : `${prefix}: ${subject}`
  return full.slice(0, SUBJECT_CHARACTERS_MAX).toWellFormed()
}

/** The first is kept, so that the thread is found by its beginning. */
function lastOf(references: readonly string[]): string[] {
  const all = [...new Set(references)]
  return all.length <= REFERENCES_MAX ? all : [all[0]!, ...all.slice(1 - REFERENCES_MAX)]
}

function roundsOf(message: Message): number {
  const said = headerOf(message, ANSWERED_HEADER.toLowerCase())
  return said !== undefined && /^\d{1,3}$/.test(said) ? Number(said) : 0
}

function headerOf({ headers }: InboundContent, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

function legible(list: readonly ReceivedMailbox[]): Mailbox[] {
  return list.flatMap(({ name, address }) => {
    const parsed = parseAddress(address)
    return 'fault' in parsed ? [] : [{ ...parsed, name }]
  })
}
