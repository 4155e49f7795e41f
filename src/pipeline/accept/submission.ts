/** What a door hands over: a message whose every field has been parsed and found good by itself. */
import type { Id } from '../../lib/ids.ts'
import { base64LinesSize } from '../../protocols/mime/base64-lines.ts'
import { nameForType } from '../../protocols/mime/file-type.ts'
import { textEntity } from '../../protocols/mime/text-entity.ts'
import type { Mailbox } from '../../protocols/smtp/address.ts'
import type { Values } from '../../resources/templates/render.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'

export interface SubmittedAttachment {
  filename: string
  /** Media type, with parameters when the user gave some. */
  contentType: string
  /** Without angle brackets; makes the part inline. */
  contentId: string | null
  content: Uint8Array
}

/** One whose bytes are on their way into the store. */
export interface StagedAttachment extends Omit<SubmittedAttachment, 'content'> {
  blob: StagedBlob
}

/** An attachment that is to be fetched before the email is accepted. */
export interface RemoteAttachment {
  url: string
  /** Null: it follows from the URL. */
  filename: string | null
  /** Null: it follows from the file name or the reply. */
  contentType: string | null
  contentId: string | null
}

/** Which template a submission is made from, and with what. */
export interface TemplateUse {
  id: Id
  values: Values
  /** What the request calls the two, as in `template_id`. */
  fields: { id: string; values: string }
}

/** A message as its sender composed it, and the recipients of its SMTP envelope. */
export interface RawMessage {
  message: Uint8Array
  recipients: Mailbox[]
}

/**
 * The first of the four shapes of an email on its way into the database: `Submission` (every field is valid
 * by itself), `PreparedEmail` (template rendered, files staged), `NewEmail` (id and row), `EmailRow`.
 */
export interface Submission {
  from: Mailbox
  to: Mailbox[]
  cc: Mailbox[]
  bcc: Mailbox[]
  replyTo: Mailbox[]
  /** Null where the template is to give it. */
  subject: string | null
  html: string | null
  text: string | null
  /** The user's own header fields. */
  headers: [name: string, value: string][]
  /** The user's own Message-ID, with angle brackets. */
  messageId: string | null
  attachments: (SubmittedAttachment | RemoteAttachment)[]
  tags: unknown[]
  /** Epoch ms; null to send at once. */
  scheduledAt: number | null
  /** What it is about: mail for those alone who want it. */
  topicId: Id | null
  /** Gives subject, html and text where they are null. */
  template: TemplateUse | null
  /**
   * The message that is sent in place of a composed one. The other fields then only describe it for the API
   * and the dashboard. Null for a message that Mailhorn composes.
   */
  raw: RawMessage | null
}

/** Completes a submission with the defaults of the fields that are not given. */
export function newSubmission(
  given: Pick<Submission, 'from' | 'to' | 'subject'> & Partial<Submission>,
): Submission {
  return {
    cc: [],
    bcc: [],
    replyTo: [],
    html: null,
    text: null,
    headers: [],
    messageId: null,
    attachments: [],
    tags: [],
    scheduledAt: null,
    topicId: null,
    template: null,
    raw: null,
    ...given,
  }
}

/** What an attachment without a name is called. @param index from 0 */
export function attachmentName(index: number, type: string | undefined): string {
  return nameForType(`attachment-${index + 1}`, type)
}

export function isRemote(
  attachment: SubmittedAttachment | StagedAttachment | RemoteAttachment,
): attachment is RemoteAttachment {
  return 'url' in attachment
}

/** After encoding for transport; larger messages find no taker. */
export const MESSAGE_BYTES_MAX = 40 * 1024 * 1024

/** Shorter texts are not looked at: they can be off by so little that it does not matter. */
const MEASURED_FROM_CHARACTERS = 128 * 1024
/** What quoted-printable, base64 and CRLF can make of a text together. */
const TEXT_GROWTH_MAX = 2.5
const PART_HEADER_OCTETS = 500

/**
 * An upper estimate of the message's size on the wire, close to the truth where the limit is near; without
 * what is still to be fetched.
 */
export function encodedSize({
  html,
  text,
  attachments,
}: Pick<Submission, 'html' | 'text' | 'attachments'>): number {
  const files = attachments.reduce((sum, attachment) => sum + encodedAttachmentSize(attachment), 0)
  return files + encodedTextSize(html) + encodedTextSize(text)
}

function encodedAttachmentSize(attachment: SubmittedAttachment | RemoteAttachment): number {
  return isRemote(attachment) ? 0 : encodedFileSize(attachment, attachment.content.length)
}

/** What an attachment adds to the message. @param sizeBytes of its content */
export function encodedFileSize(
  { filename, contentType }: Pick<SubmittedAttachment, 'filename' | 'contentType'>,
  sizeBytes: number,
): number {
  const names = 8 * Buffer.byteLength(filename) + 2 * Buffer.byteLength(contentType)
  return base64LinesSize(sizeBytes) + names + PART_HEADER_OCTETS
}

function encodedTextSize(text: string | null): number {
  if (text === null) return 0
  const octets =
    text.length < MEASURED_FROM_CHARACTERS
      ? Math.ceil(Buffer.byteLength(text) * TEXT_GROWTH_MAX)
      : textEntity('plain', text).sizeBytes
  return octets + PART_HEADER_OCTETS
}

/** Who submits. */
export interface Sender {
  accountId: Uint8Array
  /** Null for a dashboard session. */
  apiKeyId: Uint8Array | null
  /** Name of the only domain the sender may send from; null when it may from all of the account's. */
  domain: string | null
  /** What the service itself has to say: counted, but not held back by a quota. */
  isService?: true
}

/** What makes a repeated request known. */
export interface IdempotencyToken {
  /** Keys of different endpoints do not meet. */
  endpoint: string
  key: string
  /** SHA-256 of the request body in canonical form. */
  bodyHash: Uint8Array
}

/** The result of a request whose emails are accepted. */
export interface Accepted {
  /** Ids of the accepted emails, in the order of the request. */
  ids: Id[]
  /** Emails of a permissive batch that were refused, by index. */
  leftOut: LeftOut[]
}

export interface LeftOut {
  /** Index of the email in the batch, from 0. */
  index: number
  message: string
}
