/**
 * A submission is the first form of an email: every field has been parsed and is valid by itself. The HTTP
 * API (`send-schema.ts`), SMTP submission (`read-message.ts`) and internal senders make submissions;
 * `prepare.ts` takes them.
 */
import type { Id } from '../../lib/ids.ts'
import { base64LinesSize } from '../../protocols/mime/base64-lines.ts'
import { nameForType } from '../../protocols/mime/file-type.ts'
import { HTML_CHARACTERS_MAX, TEXT_SURPLUS_MAX } from '../../protocols/mime/html/html-to-text.ts'
import { textEntity } from '../../protocols/mime/text-entity.ts'
import type { Mailbox } from '../../protocols/smtp/address.ts'
import type { Dsn } from '../../resources/emails/dsn.ts'
import type { TemplateRef } from '../../resources/templates/template-rows.ts'
import type { Values } from '../../resources/templates/values.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'

export interface SubmittedAttachment {
  filename: string
  /** Media type, with parameters if the user gave some. */
  contentType: string
  /** Content-ID without angle brackets. An attachment that has one is inline. */
  contentId: string | null
  content: Uint8Array
}

/** An attachment whose content is staged in the blob store. */
export interface StagedAttachment extends Omit<SubmittedAttachment, 'content'> {
  blob: StagedBlob
}

/** An attachment that is fetched before the email is accepted. */
export interface RemoteAttachment {
  url: string
  /** Null: derived from the URL. */
  filename: string | null
  /** Null: derived from the file name or the reply. */
  contentType: string | null
  contentId: string | null
}

/** The template of a submission and the values of its variables. */
export interface TemplateUse {
  ref: TemplateRef
  values: Values
  /** Names of the two fields in the request, such as `template_id`. Error messages contain them. */
  fields: { id: string; values: string }
}

/** A message as its sender composed it, and the recipients of its SMTP envelope. */
export interface RawMessage {
  message: Uint8Array
  recipients: Mailbox[]
  /** Notifications that the client requested, or `notice` for a notification. Absent if there are none. */
  dsn?: Dsn | null
}

/**
 * The first of the four shapes of an email on its way into the database: `Submission` (every field is valid
 * by itself), `PreparedEmail` (template rendered, files staged), `NewEmail` (id and row), `EmailRow`.
 */
export interface Submission {
  /** Null if the template gives the sender. */
  from: Mailbox | null
  to: Mailbox[]
  cc: Mailbox[]
  bcc: Mailbox[]
  /** Empty if the template gives the addresses, or if there are none. */
  replyTo: Mailbox[]
  /** Null if the template gives the subject. */
  subject: string | null
  html: string | null
  text: string | null
  /** Header fields of the user. */
  headers: [name: string, value: string][]
  /** Message-ID of the user, with angle brackets. */
  messageId: string | null
  attachments: (SubmittedAttachment | RemoteAttachment)[]
  /** Paths of contents that were perhaps not meant as base64, for warnings; absent if there are none. */
  doubtfulContents?: string[]
  tags: unknown[]
  /** Epoch ms; null to send at once. */
  scheduledAt: number | null
  /** Topic of the email. Contacts who opted out of the topic do not receive it. */
  topicId: Id | null
  /** Provides sender, reply addresses, subject, html and text where these are absent. */
  template: TemplateUse | null
  /**
   * The message that is sent in place of a composed one. The other fields then only describe it for the API
   * and the dashboard. Null for a message that Mailhorn composes.
   */
  raw: RawMessage | null
}

/** Completes a submission with the defaults of the fields that are not given. */
export function newSubmission(
  fields: Pick<Submission, 'from' | 'to' | 'subject'> & Partial<Submission>,
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
    ...fields,
  }
}

/**
 * Names an attachment that has no file name.
 * @param index from 0
 */
export function attachmentName(index: number, type: string | undefined): string {
  return nameForType(`attachment-${index + 1}`, type)
}

export function isRemote(
  attachment: SubmittedAttachment | StagedAttachment | RemoteAttachment,
): attachment is RemoteAttachment {
  return 'url' in attachment
}

/** Shorter texts are estimated by their length, since the error is small. */
const MEASURED_FROM_CHARACTERS = 128 * 1024
/** Upper bound for the growth of a text by quoted-printable or base64, and CRLF. */
const TEXT_GROWTH_MAX = 2.5
const PART_HEADER_OCTETS = 500

/**
 * Upper estimate of the size of the message on the wire, without remote attachments. The estimate is accurate
 * for sizes near the limit.
 */
export function encodedSize({
  html,
  text,
  attachments,
}: Pick<Submission, 'html' | 'text' | 'attachments'>): number {
  const files = attachments.reduce((sum, attachment) => sum + encodedAttachmentSize(attachment), 0)
  return files + encodedTextSize(html) + (text === null ? derivedTextSize(html) : encodedTextSize(text))
}

function encodedAttachmentSize(attachment: SubmittedAttachment | RemoteAttachment): number {
  return isRemote(attachment) ? 0 : encodedFileSize(attachment, attachment.content.length)
}

/**
 * Returns the size that an attachment adds to the message.
 * @param sizeBytes size of the content
 */
export function encodedFileSize(
  { filename, contentType }: Pick<SubmittedAttachment, 'filename' | 'contentType'>,
  sizeBytes: number,
): number {
  const names = 8 * Buffer.byteLength(filename) + 2 * Buffer.byteLength(contentType)
  return base64LinesSize(sizeBytes) + names + PART_HEADER_OCTETS
}

/** Upper bound for the text that is derived from the HTML when the message is composed. */
function derivedTextSize(html: string | null): number {
  if (html === null || html.length > HTML_CHARACTERS_MAX) return 0
  return Math.ceil((Buffer.byteLength(html) + TEXT_SURPLUS_MAX) * TEXT_GROWTH_MAX) + PART_HEADER_OCTETS
}

function encodedTextSize(text: string | null): number {
  if (text === null) return 0
  const octets =
    text.length < MEASURED_FROM_CHARACTERS
      ? Math.ceil(Buffer.byteLength(text) * TEXT_GROWTH_MAX)
      : textEntity('plain', text).sizeBytes
  return octets + PART_HEADER_OCTETS
}

/** Who submits an email. */
export interface Sender {
  accountId: Uint8Array
  /** Null for a session of the dashboard and for internal senders. */
  apiKeyId: Uint8Array | null
  /** The only domain that the sender may use in `from`; null if any domain of the account is allowed. */
  domain: string | null
  /** Set for notices of the service itself. They are counted and not limited by a quota. */
  isService?: true
  /** Set for received mail that is forwarded. It is taken while the service accepts no new email. */
  isReceived?: true
}

/** Identifies a repeated request. */
export interface IdempotencyToken {
  /** Keys of different endpoints are independent. */
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
