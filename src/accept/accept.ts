/** The one door: what a user submits becomes stored emails and due deliveries, or a refusal and no change. */
import type { Plans } from '../accounts/plans.ts'
import type { Clock } from '../lib/clock.ts'
import { type IdSource, idText, wireId } from '../lib/ids.ts'
import type { Mailbox } from '../smtp/address.ts'
import type { BlobFiles, StagedBlob } from '../store/blobs.ts'
import type { Run } from '../store/command.ts'
import { DELIVERY_CLASS } from '../store/schema.ts'
import type { FindReadyTemplate } from '../templates/ready.ts'
import type { Accepted, acceptCommands, NewEmail } from './commit.ts'
import type { FetchAttachments } from './fetch-attachments.ts'
import { envelopeRecipients, MOST_RECIPIENTS } from './recipients.ts'
import { isRefusal, type Refusal, refuseField } from './refusal.ts'
import {
  encodedSize,
  type IdempotencyToken,
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

export interface Accept {
  /**
   * Resolves once the email is durably stored.
   * @throws StorageUnavailable
   */
  send(
    sender: Sender,
    submission: Submission,
    idempotency: IdempotencyToken | null,
  ): Promise<Accepted | Refusal>
}

interface AcceptOptions {
  findTemplate: FindReadyTemplate
  run: Run<typeof acceptCommands>
  blobs: BlobFiles
  fetchAttachments: FetchAttachments
  clock: Clock
  newId: IdSource
  simulatorDomain: string
  feedbackRegions: string[]
  quotaOf: Plans['quotaOf']
  expireAfterMs: number
}

export function createAccept(options: AcceptOptions): Accept {
  const { run, clock, feedbackRegions, quotaOf } = options
  return {
    async send(sender, submission, idempotency) {
      const refusal = refusalOf(sender, submission)
      if (refusal) return refusal
      const whole = await complete(options, sender, submission)
      const now = clock.now()
      const request = { sender, now, idempotency, feedbackRegions }
      if (isRefusal(whole))
        return idempotency ? run('accept', { ...request, emails: [], quota: null, refusal: whole }) : whole
      const email = await prepare(options, sender, whole, now)
      const quota = await quotaOf(sender.accountId)
      return run('accept', { ...request, emails: [email], quota })
    },
  }
}

/** The submission with all its words and bytes, or what is missing. */
async function complete(
  { findTemplate, fetchAttachments }: AcceptOptions,
  { accountId }: Sender,
  submission: Submission,
): Promise<WholeSubmission | Refusal> {
  const worded = withinSize(await wordFinder(findTemplate, accountId)(submission))
  if (isRefusal(worded)) return worded
  const whole = await fetchAttachments(accountId, worded)
  return whole === worded ? whole : withinSize(whole)
}

/** A domain's name never changes, and so no race gets past the sender's bond to one. */
function refusalOf({ domain }: Sender, submission: Submission): Refusal | undefined {
  const { from, to, cc, bcc } = submission
  if (domain !== null && from.domain !== domain)
    return refuseField('foreign_domain', 'from', `This API key may send \`from\` ${domain} only.`)
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

async function prepare(
  { blobs, newId, simulatorDomain, expireAfterMs }: AcceptOptions,
  sender: Sender,
  submission: WholeSubmission,
  now: number,
): Promise<NewEmail> {
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
