/**
 * Composes a delivery status notification for the client that submitted an email (RFC 3461 §6, RFC 3464,
 * RFC 6522). Pure functions; `notice-sender.ts` sends the result.
 */
import { isAscii } from 'node:buffer'
import { printableAscii } from '../../../lib/printable-ascii.ts'
import { formatDate } from '../../../protocols/mime/date.ts'
import { splitMessage } from '../../../protocols/mime/whole-message.ts'
import type { DsnRequest } from '../../../protocols/smtp/dsn.ts'
import { fieldsText, type HeaderField } from '../../../protocols/smtp/header-field.ts'
import type { DsnFacts } from '../../../resources/events/dsn-notices.ts'
import type { DsnAction } from '../../../store/model/schema.ts'

export interface NoticeSource {
  action: DsnAction
  facts: DsnFacts
  /** Time of the change, in ms since the epoch. */
  at: number
  recipient: string
  /** ORCPT, decoded; null if there was none. */
  original: string | null
  request: DsnRequest
  /** The submitted message. */
  message: Buffer
  /** Time at which it was accepted, in ms since the epoch. */
  arrivedAt: number
  /** Address in From, at the domain of the email. */
  from: string
  /** Name of this host. */
  mailHost: string
  /** Message-ID of the notification, with angle brackets. */
  messageId: string
}

const TEXT_CHARACTERS_MAX = 500
const ENHANCED = /\b[245]\.\d{1,3}\.\d{1,3}\b/
/** Status without a code in the reply (RFC 3463 §3). */
const DEFAULT_STATUS: Record<DsnAction, string> = {
  delivered: '2.0.0',
  relayed: '2.0.0',
  failed: '5.0.0',
  delayed: '4.0.0',
}
const SUBJECT: Record<DsnAction, string> = {
  delivered: 'Delivered',
  relayed: 'Passed on',
  failed: 'Undelivered',
  delayed: 'Delayed',
}
export function noticeSubject(action: DsnAction, recipient: string): string {
  return `${SUBJECT[action]}: message to ${printableAscii(recipient, 400)}`
}

const SENTENCE: Record<DsnAction, string> = {
  delivered: 'Your message was delivered to this recipient.',
  relayed:
    'Your message was accepted by the mail server of this recipient, which sends no notification of its delivery.',
  failed: 'Your message could not be delivered to this recipient.',
  delayed:
    'Your message has not been delivered to this recipient yet. Further attempts follow; you need not resend it.',
}

/** @returns the text for people, and the whole message with CRLF line ends in 7 bits */
export function noticeMessage(source: NoticeSource): { text: string; message: Buffer } {
  const { action, facts, request, from, messageId, at, recipient } = source
  const reply = printableAscii(facts.text, TEXT_CHARACTERS_MAX)
  const text = `${SENTENCE[action]}\n\n    ${printableAscii(recipient, TEXT_CHARACTERS_MAX)}\n${reply === '' ? '' : `    ${reply}\n`}`
  const returned = returnedPart(source)
  const parts = [
    part('text/plain; charset=us-ascii', wrapped(text)),
    part('message/delivery-status', statusPart(source, reply)),
    part(returned.type, returned.octets),
  ]
  // A boundary may not occur in the returned message, and nobody can know this one in advance.
  const boundary = `=_dsn_${messageId.replace(/[^0-9a-z]/gi, '').slice(0, 50)}`
  const head = fieldsText([
    { name: 'From', value: `Mail Delivery System <${from}>` },
    { name: 'To', value: `<${request.sender}>` },
    { name: 'Subject', value: noticeSubject(action, recipient) },
    { name: 'Date', value: formatDate(at) },
    { name: 'Message-ID', value: messageId },
    { name: 'Auto-Submitted', value: 'auto-replied' },
    { name: 'MIME-Version', value: '1.0' },
    {
      name: 'Content-Type',
      value: `multipart/report; report-type=delivery-status;\r\n\tboundary="${boundary}"`,
    },
  ])
  const pieces = parts.flatMap(octets => [Buffer.from(`\r\n--${boundary}\r\n`), octets])
  return {
    text,
    message: Buffer.concat([Buffer.from(head), ...pieces, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  }
}

function part(type: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`Content-Type: ${type}\r\n\r\n`), content])
}

function wrapped(text: string): Buffer {
  return Buffer.from(text.replaceAll('\n', '\r\n'))
}

/** The fields about the message, and those about the recipient (RFC 3464 §2.2, §2.3). */
function statusPart(source: NoticeSource, reply: string): Buffer {
  const { action, facts, request, arrivedAt, at, mailHost, recipient, original } = source
  const status = facts.status ?? ENHANCED.exec(reply)?.[0]
  const isFitting = status?.[0] === DEFAULT_STATUS[action][0]
  const ofMessage = fieldsOf([
    ['Original-Envelope-Id', request.envelopeId],
    ['Reporting-MTA', `dns; ${mailHost}`],
    ['Arrival-Date', formatDate(arrivedAt)],
  ])
  const ofRecipient = fieldsOf([
    ['Original-Recipient', original],
    ['Final-Recipient', `rfc822; ${recipient}`],
    ['Action', action],
    ['Status', isFitting ? status! : DEFAULT_STATUS[action]],
    ['Remote-MTA', facts.host === null ? null : `dns; ${facts.host}`],
    ['Diagnostic-Code', reply === '' ? null : `${facts.host === null ? 'X-Mailhorn' : 'smtp'}; ${reply}`],
    ['Last-Attempt-Date', formatDate(at)],
  ])
  return Buffer.from(`${ofMessage}\r\n${ofRecipient}`)
}

function fieldsOf(fields: readonly (readonly [name: string, value: string | null])[]): string {
  const present = fields.flatMap(([name, value]): HeaderField[] =>
    value === null ? [] : [{ name, value: printableAscii(value, 2 * TEXT_CHARACTERS_MAX) }],
  )
  return fieldsText(present)
}

/**
 * Returns the header section, or the whole message of a failure if the client asked for it (RFC 3461 §4.3).
 * Octets of 8 bits would lose the notification at a host without 8BITMIME, so such a message is not returned.
 */
function returnedPart({ action, request, message }: NoticeSource): { type: string; octets: Buffer } {
  if (action === 'failed' && request.ret === 'FULL' && isAscii(message))
    return { type: 'message/rfc822', octets: message }
  const head = Buffer.from(fieldsText(splitMessage(message).fields))
  return {
    type: 'text/rfc822-headers',
    octets: isAscii(head) ? head : Buffer.from(head.toString().replace(/[^\x00-\x7f]/g, '?')),
  }
}
