/** From a submission to an email that only the transaction has still to decide about. */
import type { Clock } from '../lib/clock.ts'
import { type IdSource, idText, wireId } from '../lib/ids.ts'
import type { Mailbox } from '../smtp/address.ts'
import type { BlobFiles, StagedBlob } from '../store/blobs.ts'
import { DELIVERY_CLASS } from '../store/schema.ts'
import type { FindReadyTemplate } from '../templates/ready.ts'
import type { FetchAttachments } from './fetch-attachments.ts'
import { envelopeRecipients, MOST_RECIPIENTS } from './recipients.ts'
import { isRefusal, type Refusal, refuseField } from './refusal.ts'
import type { NewEmail } from './store-emails.ts'
import {
  encodedSize,
  MOST_MESSAGE_BYTES,
  type Sender,
  type Submission,
  type WholeSubmission,
  type Worded,
} from './submission.ts'
import { wordFinder } from './template.ts'

/** One attachment of an email as stored. */
export interface StoredAttachment {
  id: string
  filename: string
  contentType: string
  contentId: string | null
  sizeBytes: number
  /** SHA-256, hex. */
  hash: string
}

export interface PrepareOptions {
  findTemplate: FindReadyTemplate
  blobs: BlobFiles
  fetchAttachments: FetchAttachments
  clock: Clock
  newId: IdSource
  simulatorDomain: string
  expireAfterMs: number
}

/** Its words found, its attachments fetched and staged; or why it cannot be sent. */
export type PrepareEmail = (submission: Submission) => Promise<NewEmail | Refusal>

/** For the submissions of one request. */
export function emailPreparer(options: PrepareOptions, sender: Sender): PrepareEmail {
  const { findTemplate, fetchAttachments } = options
  const findWords = wordFinder(findTemplate, sender.accountId)
  return async submission => {
    const refusal = refusalOf(submission)
    if (refusal) return refusal
    const worded = withinSize(await findWords(submission))
    if (isRefusal(worded)) return worded
    const fetched = await fetchAttachments(sender.accountId, worded)
    const whole = fetched === worded ? fetched : withinSize(fetched)
    return isRefusal(whole) ? whole : emailOf(options, sender, whole)
  }
}

function refusalOf({ to, cc, bcc }: Submission): Refusal | undefined {
  if (to.length + cc.length + bcc.length > MOST_RECIPIENTS)
    return refuseField(
      'too_many_recipients',
      'to',
      `An email may have at most ${MOST_RECIPIENTS} recipients in to, cc and bcc together.`,
    )
  return undefined
}

function withinSize<S extends Worded>(submission: S | Refusal): S | Refusal {
  if (isRefusal(submission) || encodedSize(submission) <= MOST_MESSAGE_BYTES) return submission
  const limit = `${MOST_MESSAGE_BYTES / 1024 / 1024} MB`
  return submission.attachments.length > 0
    ? refuseField('invalid_attachment', 'attachments', `The message is larger than ${limit} once encoded.`)
    : { refused: 'message_too_large', message: `The message is larger than ${limit} once encoded.` }
}

async function emailOf(
  { blobs, clock, newId, simulatorDomain, expireAfterMs }: PrepareOptions,
  sender: Sender,
  submission: WholeSubmission,
): Promise<NewEmail> {
  const now = clock.now()
  const id = newId(now)
  const staged = await Promise.all(submission.attachments.map(({ content }) => blobs.stage(content)))
  const recipients = envelopeRecipients(submission)
  return {
    row: {
      accountId: sender.accountId,
      id,
      apiKeyId: sender.apiKeyId,
      sender: mailboxJson([submission.from])!,
      toList: mailboxJson(submission.to),
      ccList: mailboxJson(submission.cc),
      bccList: mailboxJson(submission.bcc),
      replyToList: mailboxJson(submission.replyTo),
      subject: submission.subject,
      headers: jsonOrNull(submission.headers),
      attachments: attachmentJson(submission, staged, () => wireId('att', newId(now))),
      tags: jsonOrNull(submission.tags),
      messageId: submission.messageId ?? `<${idText(id)}@${submission.from.domain}>`,
      recipientCount: recipients.length,
      createdAt: now,
      scheduledAt: submission.scheduledAt,
      openCount: 0,
      clickCount: 0,
      broadcastId: null,
      templateId: submission.template?.id ?? null,
      topicId: null,
    },
    fromDomain: submission.from.domain,
    content: { html: submission.html, text: submission.text },
    blobs: staged,
    recipients,
    simulated: recipients.every(({ domain }) => domain === simulatorDomain),
    class: DELIVERY_CLASS.transactional,
    expiresAt: (submission.scheduledAt ?? now) + expireAfterMs,
  }
}

function attachmentJson(
  { attachments }: WholeSubmission,
  staged: readonly StagedBlob[],
  newAttachmentId: () => string,
): string | null {
  const stored = attachments.map(
    ({ filename, contentType, contentId }, i): StoredAttachment => ({
      id: newAttachmentId(),
      filename,
      contentType,
      contentId,
      sizeBytes: staged[i]!.sizeBytes,
      hash: Buffer.from(staged[i]!.hash).toString('hex'),
    }),
  )
  return jsonOrNull(stored)
}

/** Stored without the domain, which follows from the address. */
function mailboxJson(mailboxes: readonly Mailbox[]): string | null {
  return jsonOrNull(mailboxes.map(({ name, address }) => (name === null ? { address } : { name, address })))
}

function jsonOrNull(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list)
}
