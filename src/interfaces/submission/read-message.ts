/**
 * Parses a submitted message into a `Submission`: the fields for display, the control fields for Mailhorn,
 * and the octets that are sent.
 */
import { hash } from 'node:crypto'
import { canonicalHash } from '../../lib/canonical-json.ts'
import { SUBJECT_CHARACTERS_MAX } from '../../pipeline/accept/field-rules.ts'
import { isRefusal, type Refusal, refuseField } from '../../pipeline/accept/refusal.ts'
import { newSubmission, type Submission, type SubmittedAttachment } from '../../pipeline/accept/submission.ts'
import { readSubmittedHead } from '../../pipeline/accept/submitted-head.ts'
import { isWithinDomain } from '../../protocols/dns/name.ts'
import { decodeWords } from '../../protocols/mime/read/encoded-words.ts'
import { unfold } from '../../protocols/mime/read/head.ts'
import { readMail } from '../../protocols/mime/read/read-mail.ts'
import { decodeBytes } from '../../protocols/mime/read/transfer.ts'
import { joinMessage } from '../../protocols/mime/whole-message.ts'
import { foldAddress, type Mailbox, parseForeignAddress } from '../../protocols/smtp/address.ts'
import { parseMailboxes } from '../../protocols/smtp/address-list.ts'
import { type DsnRequest, wantsNotices } from '../../protocols/smtp/dsn.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'
import type { Content } from '../../resources/emails/content.ts'
import { readControl } from './control-fields.ts'
import { withShortLines, withWholeLines } from './lines.ts'
import { legibleMailboxes, withPlainFrom } from './mended-addresses.ts'
import { idIn } from './mended-fields.ts'
import { outgoingFields } from './outgoing-fields.ts'
import { inSevenBits } from './seven-bit.ts'

export interface Submitted {
  /** Message as received after DATA, without dot-stuffing. */
  octets: Buffer
  /** Recipients of the envelope. */
  recipients: Mailbox[]
  /** Requested notifications; null if there are none. */
  dsn: DsnRequest | null
  /** Time of submission, in ms since the epoch. */
  now: number
  /** Local part of the Message-ID for a message without a valid one. */
  messageName: string
  /** Trace field of this installation. */
  received: HeaderField
  /** Whether fields that tell of the sender's network are removed. */
  hidesOrigin: boolean
}

export interface ReadMessage {
  message: Submission
  idempotency: { key: string; bodyHash: Uint8Array } | null
}

/** Texts and attachments of a submitted message, as the dashboard and the API show them. */
interface MessageParts {
  content: Content
  attachments: SubmittedAttachment[]
  /** True if nothing was cut or left out, so that different messages have different parts. */
  isWhole: boolean
}

/** Header fields that are shown as fields of the email, or not at all. */
const NOT_SHOWN =
  /^(?:from|to|cc|reply-to|subject|date|message-id|mime-version|content-.*|received|dkim-.*|arc-.*)$/i
const SHOWN_HEADERS_MAX = 100
/** Further attachments are sent, and not shown. */
const SHOWN_ATTACHMENTS_MAX = 100

/** @param partsOf extracts texts and attachments; null if an attempt has failed */
export async function readMessage(
  { octets, recipients, dsn, now, messageName, received, hidesOrigin }: Submitted,
  partsOf: ((message: Buffer) => Promise<MessageParts>) | null,
): Promise<ReadMessage | Refusal> {
  if (octets.includes(0)) return { refused: 'invalid_field', message: 'The message contains NUL octets.' }
  const written = readSubmittedHead(withWholeLines(octets))
  if (isRefusal(written)) return written
  const head = { ...written, fields: written.fields.map(withPlainFrom) }
  const shown = head.fields.map(({ name, value }) => ({ name, value: decodeWords(unfold(value)) }))
  const from = readFrom(head.fields)
  if (isRefusal(from)) return from
  const foreign = dsn && refuseForeignDsn(dsn, from)
  if (foreign) return foreign
  const control = readControl(shown)
  if (isRefusal(control)) return control
  const fields = outgoingFields(
    head.fields,
    { now, messageId: `<${messageName}@${from.domain}>` },
    hidesOrigin,
  )
  if (isRefusal(fields)) return fields
  const messageId = idIn(unfold(textOf(fields, 'message-id')!))!
  const raw = transportable([received, ...fields], head.body)
  const parts = partsOf ? await partsOf(raw) : NOTHING_READ
  const [to, cc] = [mailboxesIn(head.fields, 'to'), mailboxesIn(head.fields, 'cc')]
  const message = newSubmission({
    from,
    to,
    cc,
    bcc: recipients.filter(isHiddenIn([...to, ...cc])),
    replyTo: mailboxesIn(head.fields, 'reply-to'),
    subject: (textOf(shown, 'subject') ?? '').trim().slice(0, SUBJECT_CHARACTERS_MAX),
    headers: shownHeaders(fields),
    messageId,
    tags: control.tags,
    scheduledAt: control.scheduledAt,
    ...parts.content,
    attachments: parts.attachments,
    raw: { message: raw, recipients, dsn },
  })
  const { idempotencyKey: key } = control
  return {
    message,
    idempotency: key === null ? null : { key, bodyHash: hashOf(message, recipients, parts, head.body) },
  }
}

/** A message with a DKIM signature of its sender keeps a body of 8 bits, so that it remains valid. */
function transportable(fields: readonly HeaderField[], body: Buffer): Buffer {
  if (fields.some(({ name }) => name.toLowerCase() === 'dkim-signature'))
    return joinMessage(fields, withShortLines(body))
  const whole = inSevenBits(joinMessage(fields, body))
  const bodyAt = whole.indexOf('\r\n\r\n') + 4
  const short = withShortLines(whole.subarray(bodyAt))
  return short.length === whole.length - bodyAt ? whole : Buffer.concat([whole.subarray(0, bodyAt), short])
}

/**
 * Extracts texts and attachments. A message whose parts cannot be found is sent, and shown without its texts.
 */
export async function partsOf(message: Buffer): Promise<MessageParts> {
  const { html, text, parts, faults } = readMail(message)
  const attachments: SubmittedAttachment[] = []
  // A file is hardly ever larger than its encoding, unless it is meant to exhaust the memory of its reader.
  let room = message.length
  for (const { filename, contentType, contentId, sizeBytes, start, end, encoding } of parts) {
    if (attachments.length === SHOWN_ATTACHMENTS_MAX || sizeBytes > room) continue
    room -= sizeBytes
    const content = decodeBytes(message.subarray(start, end), encoding, sizeBytes)
    attachments.push({ filename, contentType, contentId, content })
  }
  return {
    content: { html, text: text || null },
    attachments,
    isWhole: faults.length === 0 && attachments.length === parts.length,
  }
}

const NOTHING_READ: MessageParts = { content: { html: null, text: null }, attachments: [], isWhole: false }

/** Returns the only mailbox of From; its domain must belong to the sender. */
function readFrom(fields: readonly HeaderField[]): Mailbox | Refusal {
  const values = fields.filter(({ name }) => name.toLowerCase() === 'from')
  if (values.length === 0) return refuseField('missing_field', 'From', 'The message has no From field.')
  const mailboxes = parseMailboxes(unfold(values[0]!.value))
  if ('fault' in mailboxes)
    return refuseField('invalid_from', 'From', `The address in From ${mailboxes.fault}.`)
  if (mailboxes.length > 1 || values.length > 1)
    return refuseField('invalid_from', 'From', 'The From field must have one address.')
  return named(mailboxes[0]!)
}

/**
 * Notifications go to the domain of From or below it only, which belongs to the account, so that nobody else
 * gets notifications of mail that they have not sent.
 */
function refuseForeignDsn(dsn: DsnRequest, { domain: own }: Mailbox): Refusal | undefined {
  if (!wantsNotices(dsn)) return undefined
  const sender = parseForeignAddress(dsn.sender)
  if (!('fault' in sender) && isWithinDomain(sender.domain, own)) return undefined
  return {
    refused: 'foreign_domain',
    message: `NOTIFY needs a MAIL FROM address at the domain of From (${own}); leave NOTIFY out, or use one.`,
  }
}

/** Mailboxes for display; text that is not an address is left out. */
function mailboxesIn(fields: readonly HeaderField[], field: string): Mailbox[] {
  return fields
    .filter(({ name }) => name.toLowerCase() === field)
    .flatMap(({ value }) => legibleMailboxes(unfold(value)))
}

function named({ name, ...rest }: Mailbox): Mailbox {
  return { name: name === null ? null : decodeWords(name), ...rest }
}

function isHiddenIn(shown: readonly Mailbox[]): (mailbox: Mailbox) => boolean {
  const open = new Set(shown.map(({ address }) => foldAddress(address)))
  return ({ address }) => !open.has(foldAddress(address))
}

function shownHeaders(fields: readonly HeaderField[]): [string, string][] {
  return fields
    .filter(({ name }) => !NOT_SHOWN.test(name))
    .slice(0, SHOWN_HEADERS_MAX)
    .map(({ name, value }) => [name, decodeWords(unfold(value))])
}

function textOf(fields: readonly HeaderField[], wanted: string): string | undefined {
  return fields.find(({ name }) => name.toLowerCase() === wanted)?.value
}

function hasParts({ content, attachments }: MessageParts): boolean {
  return content.html !== null || content.text !== null || attachments.length > 0
}

/**
 * Hashes the content of a message for its idempotency key. A client that repeats a message composes it again,
 * with another date, another Message-ID and other boundaries. The octets of the body are hashed only if the
 * parts do not represent all of it.
 */
function hashOf(
  { from, subject, tags, scheduledAt }: Submission,
  recipients: readonly Mailbox[],
  parts: MessageParts,
  body: Uint8Array,
): Uint8Array {
  const { content, attachments } = parts
  const hashed = {
    from: from?.address,
    recipients: recipients.map(({ address }) => foldAddress(address)).sort(),
    subject,
    tags,
    scheduledAt,
    // Files are represented by hashes: in JSON, a large Buffer becomes an array of numbers that fills the
    // heap.
    ...(parts.isWhole && hasParts(parts)
      ? { content, files: attachments.map(({ filename, content: file }) => [filename, sha256(file)]) }
      : { body: sha256(body) }),
  }
  return canonicalHash(hashed)
}

function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}
