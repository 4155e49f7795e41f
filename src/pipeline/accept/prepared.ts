/** The result of preparing a request. The values can be sent to another thread or process. */
import type { Id } from '../../lib/ids.ts'
import type { Mailbox } from '../../protocols/smtp/address.ts'
import type { Content, EncodedContent } from '../../resources/emails/content.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import type { Refusal } from './refusal.ts'
import type { LeftOut, RawMessage, RemoteAttachment, StagedAttachment, Submission } from './submission.ts'

/** An invalid email refuses the whole batch (`strict`) or is left out (`permissive`). */
export type BatchMode = 'strict' | 'permissive'

/** An email that is complete except for remote attachments, which `fetch-attachments.ts` fetches. */
export interface PreparedEmail
  extends Omit<Submission, 'from' | 'subject' | 'html' | 'text' | 'template' | 'attachments' | 'raw'> {
  from: Mailbox
  subject: string
  templateId: Id | null
  /** Paths of values that the template has no variable for; absent if there are none. */
  unusedValues?: string[]
  /** Consecutive emails of a request with the same content share one object. */
  content: Content | EncodedContent
  attachments: (StagedAttachment | RemoteAttachment)[]
  /** The staged message if the submission has a raw message. */
  raw: (Pick<RawMessage, 'recipients' | 'dsn'> & { message: StagedBlob }) | null
  /** Upper estimate of the size of the message on the wire, without remote attachments. */
  encodedOctets: number
}

/** The emails of a request, or its refusal. A refusal is returned only after the idempotency look-up. */
export interface PreparedRequest {
  /** Domains of all senders that are known, with the positions of their emails. */
  senders: { index: number; domain: string }[]
  emails: { index: number; email: PreparedEmail }[]
  /** Emails of a permissive batch that have been refused so far. */
  leftOut: LeftOut[]
  /** Null for a single email, whose index is 0. */
  mode: BatchMode | null
  refusal: Refusal | null
  /** All blobs that were staged for the request, including those of refused emails. */
  blobs: StagedBlob[]
}

/** Renders the template of a submission and stages its files, or says why the email cannot be sent. */
export type PrepareEmail = (submission: Submission) => Promise<PreparedEmail | Refusal>

/** Returns the size of a content in UTF-16 code units, or in bytes once it is in its stored form. */
export function contentLength(content: Content | EncodedContent): number {
  if ('encoding' in content) return content.body.length
  return (content.html?.length ?? 0) + (content.text?.length ?? 0)
}
