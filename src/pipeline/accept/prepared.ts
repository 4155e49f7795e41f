/** What preparing makes of a request: small, and fit to travel from the thread that has read it. */
import type { Id } from '../../lib/ids.ts'
import type { Content, EncodedContent } from '../../resources/emails/content.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import type { Refusal } from './refusal.ts'
import type { LeftOut, RawMessage, RemoteAttachment, StagedAttachment, Submission } from './submission.ts'

/** With a bad email among them, nothing is taken, or all the others are. */
export type BatchMode = 'strict' | 'permissive'

/** An email that lacks nothing but the files that are to be fetched. */
export interface PreparedEmail
  extends Omit<Submission, 'subject' | 'html' | 'text' | 'template' | 'attachments' | 'raw'> {
  subject: string
  templateId: Id | null
  /** The same object for emails of a request that say the same. */
  content: Content | EncodedContent
  attachments: (StagedAttachment | RemoteAttachment)[]
  /** The staged message of a submission that has one. */
  raw: (Pick<RawMessage, 'recipients'> & { message: StagedBlob }) | null
  /** An upper estimate of the message's size on the wire, without what is still to be fetched. */
  encodedOctets: number
}

/** All that a request wants, or why it cannot have it: both are told when the present has been asked. */
export interface PreparedRequest {
  /** Domains of all senders that could be read, with the places of their emails. */
  senders: { index: number; domain: string }[]
  emails: { index: number; email: PreparedEmail }[]
  /** The emails of a permissive batch that were refused so far. */
  leftOut: LeftOut[]
  /** Null of a single email, whose place is 0. */
  mode: BatchMode | null
  refusal: Refusal | null
  /** Everything that has been staged, for the emails or in vain. */
  blobs: StagedBlob[]
}

/** Renders the template of a submission and stages its files, or says why the email cannot be sent. */
export type PrepareEmail = (submission: Submission) => Promise<PreparedEmail | Refusal>

/** Size of a content in UTF-16 code units, or in bytes once it is in its stored form. */
export function contentLength(content: Content | EncodedContent): number {
  if ('encoding' in content) return content.body.length
  return (content.html?.length ?? 0) + (content.text?.length ?? 0)
}
