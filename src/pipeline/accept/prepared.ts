/** What preparing makes of a request: small, and fit to travel from the thread that has read it. */
import type { Id } from '../../lib/ids.ts'
import type { Mailbox } from '../../protocols/smtp/address.ts'
import type { Content, EncodedContent } from '../../resources/emails/content.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import type { LeftOut } from './answer.ts'
import type { Refusal } from './refusal.ts'
import type { RemoteAttachment, StagedAttachment, Submission, Worded } from './submission.ts'

/** With a bad email among them, nothing is taken, or all the others are. */
export type BatchMode = 'strict' | 'permissive'

/** An email that lacks nothing but the files that are to be fetched. */
export interface PreparedEmail extends Omit<Worded, 'html' | 'text' | 'template' | 'attachments'> {
  templateId: Id | null
  /** The same object for emails of a request that say the same. */
  content: Content | EncodedContent
  attachments: (StagedAttachment | RemoteAttachment)[]
  /**
   * The message itself, and whom it is for, where it was submitted whole; null: it is composed, for all who
   * are named.
   */
  whole: WholeMessage | null
  /** An upper estimate of the message's size on the wire, without what is still to be fetched. */
  encodedOctets: number
}

/** A message that was submitted over SMTP. */
export interface WholeMessage {
  raw: StagedBlob
  /** The envelope's recipients. */
  recipients: Mailbox[]
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

/** Its words found, its attachments staged; or why it cannot be sent. */
export type PrepareEmail = (
  submission: Submission,
) => Promise<(PreparedEmail & { content: Content }) | Refusal>

export function characterCount({ html, text }: Content): number {
  return (html?.length ?? 0) + (text?.length ?? 0)
}
