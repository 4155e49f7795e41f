/**
 * Writes the message by which a route forwards received mail. The body stays as it was received. The author
 * stays in From if a DKIM signature of the author's domain is valid, by which the message passes DMARC
 * wherever it goes. Otherwise From has the address that received the message, whose domain signs.
 */
import { isWithinDomain } from '../../protocols/dns/name.ts'
import { mailboxList } from '../../protocols/mime/mailbox-list.ts'
import { inAscii } from '../../protocols/mime/read/ascii-field.ts'
import { HOPS_MAX } from '../../protocols/mime/read/head.ts'
import { joinMessage } from '../../protocols/mime/whole-message.ts'
import { foldAddress, type Mailbox } from '../../protocols/smtp/address.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'
import { SUBJECT_CHARACTERS_MAX } from '../accept/field-rules.ts'
import { isRefusal } from '../accept/refusal.ts'
import { newSubmission, type Submission } from '../accept/submission.ts'
import { readSubmittedHead } from '../accept/submitted-head.ts'
import type { ReadMail } from './mail-reader.ts'
import type { Verdicts } from './message-verdicts.ts'
import { legible } from './reply-forward.ts'
import { ROUNDS_HEADER, ROUNDS_MAX, readRounds } from './rounds.ts'
import { decodeInboundContent, NO_CONTENT } from './stored-content.ts'
import { receivedFrom, type TracedInbound } from './trace-fields.ts'
import { isForgedAuthResults } from './verdicts/strip-auth-results.ts'
import type { Authentication } from './verdicts/verdict.ts'

/** A received message with what was found out about it. */
export interface ForwardableMail {
  row: Omit<TracedInbound, 'authenticationResults'>
  /** Null if it could not be read. */
  mail: ReadMail | null
  verdicts: Verdicts
}

interface ForwardTo {
  /** Address at a domain of the account that received the message. */
  recipient: Mailbox
  to: Mailbox
  mailHost: string
}

const REFERENCE = 'x-mailhorn-ref'
const MESSAGE_ID = /^<[!-;=?-~]{1,900}>$/
/** Fields of other hosts' deliveries, and those of Mailhorn, which the new email has of its own. */
const NOT_FORWARDED = /^(?:return-path|(?:resent-)?bcc|x-mailhorn-.*)$/i
const AUTHOR_FIELDS = /^(?:from|sender)$/i
const NOT_ASCII = /[^\x00-\x7f]/

/**
 * Returns the reason why mail is not forwarded, as a sentence: forwarding it would harm the reputation of the
 * domain, or make a loop with a program that answers mail. Undefined if it may be forwarded.
 */
export function forwardFault({ row, mail, verdicts }: ForwardableMail, to: Mailbox): string | undefined {
  if (verdicts.virus === 'FAIL') return 'The message contains malware.'
  if (verdicts.spam === 'FAIL') return 'The message is spam by its spam verdict.'
  const dmarc = authenticationOf(verdicts)?.dmarc
  if (dmarc?.result === 'fail' && dmarc.policy === 'reject')
    return `The message is forged: it fails DMARC, and ${dmarc.domain} asks to reject such mail.`
  const isReply = mail?.automatic === 'auto-reply' || mail?.automatic === 'report' || row.sender === ''
  const senders = [row.sender, ...(mail?.from ?? []).map(({ address }) => address)].map(foldAddress)
  if (isReply && senders.includes(foldAddress(to.address)))
    return 'The message is an automatic answer of the address that it would be forwarded to (mail loop).'
  return undefined
}

/** @returns the email, or the reason why there is none, as a sentence */
export function forwardedMail(
  { row, mail, verdicts }: ForwardableMail,
  bytes: Buffer,
  { recipient, to, mailHost }: ForwardTo,
): Submission | { fault: string } {
  if (bytes.includes(0)) return { fault: 'The message contains NUL octets.' }
  const head = readSubmittedHead(bytes)
  if (isRefusal(head)) return { fault: head.message }
  const fault = loopFault(head.fields)
  if (fault !== undefined) return { fault }
  const authors = legible(mail?.from ?? [])
  const forwarded = head.fields.filter(
    ({ name, value }) => !NOT_FORWARDED.test(name) && !isForgedAuthResults(name, value, mailHost),
  )
  const isProven = isAuthorProven(verdicts) && isUnchanged(head.fields)
  const fields = isProven ? forwarded : withOwnAuthor(forwarded, authors, recipient).map(inAscii)
  const { html, text } = mail ? decodeInboundContent(mail.content) : NO_CONTENT
  return newSubmission({
    from: isProven ? recipient : { ...recipient, name: ownName(authors, recipient) },
    to: [to],
    replyTo: authors,
    subject: (mail?.subject ?? '').slice(0, SUBJECT_CHARACTERS_MAX).toWellFormed(),
    html,
    text,
    messageId: mail?.messageId && MESSAGE_ID.test(mail.messageId) ? mail.messageId : null,
    raw: {
      message: joinMessage([...traceOf(row, mailHost), ...roundOf(head.fields), ...fields], head.body),
      recipients: [to],
    },
  })
}

function loopFault(fields: readonly HeaderField[]): string | undefined {
  if (roundsOf(fields) >= ROUNDS_MAX)
    return `The message was forwarded or answered ${ROUNDS_MAX} times (mail loop).`
  const hops = fields.filter(({ name }) => name.toLowerCase() === 'received').length
  return hops >= HOPS_MAX ? 'The message has come through too many servers (mail loop).' : undefined
}

/**
 * Tells whether the author's domain has signed, so that DMARC does not need SPF. A domain above or below the
 * author's is aligned unless the author asks for strict alignment, which shows if SPF did not help DMARC.
 */
function isAuthorProven(verdicts: Verdicts): boolean {
  const { dmarc, dkim, spf } = authenticationOf(verdicts) ?? {}
  const author = dmarc?.domain?.toLowerCase()
  if (author === undefined || (dmarc?.result !== 'pass' && dmarc?.result !== 'none')) return false
  const signers = (dkim?.signatures ?? []).flatMap(({ result, domain }) =>
    result === 'pass' && domain !== undefined ? [domain.toLowerCase()] : [],
  )
  if (signers.includes(author)) return true
  const isByDkim = dmarc.result === 'pass' && spf?.result !== 'pass'
  return isByDkim && signers.some(name => isWithinDomain(name, author) || isWithinDomain(author, name))
}

/**
 * Whether the fields can be sent as they are: few hosts accept others than ASCII, and a reference of Mailhorn
 * is replaced, which its signature covers.
 */
function isUnchanged(fields: readonly HeaderField[]): boolean {
  return fields.every(({ name, value }) => !NOT_ASCII.test(value) && name.toLowerCase() !== REFERENCE)
}

function authenticationOf({ detail }: Verdicts): Partial<Authentication> | null {
  return detail
}

/** Puts the address of the recipient in From, and the author in Reply-To unless there are such addresses. */
function withOwnAuthor(
  fields: readonly HeaderField[],
  authors: readonly Mailbox[],
  recipient: Mailbox,
): HeaderField[] {
  const others = fields.filter(({ name }) => !AUTHOR_FIELDS.test(name))
  const hasReplyTo = others.some(({ name, value }) => /^reply-to$/i.test(name) && value.trim() !== '')
  const from = mailboxList('From', [{ ...recipient, name: ownName(authors, recipient) }])
  const replyTo = { name: 'Reply-To', value: mailboxList('Reply-To', authors) }
  return [{ name: 'From', value: from }, ...(hasReplyTo || authors.length === 0 ? [] : [replyTo]), ...others]
}

function ownName([author]: readonly Mailbox[], { domain }: Mailbox): string | null {
  return author ? `${author.name ?? author.address} via ${domain}` : null
}

/** Mail that was delivered on this host has its Received field in its stored bytes. */
function traceOf(row: ForwardableMail['row'], mailHost: string): HeaderField[] {
  return row.clientIp === null ? [] : [receivedFrom(row.clientIp, row, mailHost)]
}

function roundOf(fields: readonly HeaderField[]): HeaderField[] {
  return [{ name: ROUNDS_HEADER, value: String(roundsOf(fields) + 1) }]
}

function roundsOf(fields: readonly HeaderField[]): number {
  return readRounds(fields.find(({ name }) => name.toLowerCase() === ROUNDS_HEADER.toLowerCase())?.value)
}
