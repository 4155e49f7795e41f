/**
 * Makes a `NewEmail` from a prepared email: it gets its id, its row and its recipients. Only decisions of the
 * transaction are missing.
 */
import type { Clock } from '../../lib/clock.ts'
import { type IdSource, wireId } from '../../lib/ids.ts'
import { parseForeignAddress } from '../../protocols/smtp/address.ts'
import { wantsNotices } from '../../protocols/smtp/dsn.ts'
import type { Dsn } from '../../resources/emails/dsn.ts'
import { ownMessageId, storedMailboxes } from '../../resources/emails/email-rows.ts'
import { blobName } from '../../store/blobs/staged.ts'
import { DELIVERY_CLASS } from '../../store/model/schema.ts'
import type { PreparedEmail } from './prepared.ts'
import { envelopeRecipients } from './recipients.ts'
import type { NewEmail } from './store-emails.ts'
import type { StoredAttachment } from './stored-attachments.ts'
import type { Sender, StagedAttachment } from './submission.ts'

export interface NewEmailOptions {
  clock: Clock
  newId: IdSource
  simulatorDomains: ReadonlySet<string>
  expireAfterMs: number
}

/** Default columns for emails that are not made from a submission (broadcasts). */
export const EMPTY_EMAIL_ROW = {
  apiKeyId: null,
  toList: null,
  ccList: null,
  bccList: null,
  replyToList: null,
  variables: null,
  headers: null,
  attachments: null,
  tags: null,
  raw: null,
  dsn: null,
  scheduledAt: null,
  openCount: 0,
  clickCount: 0,
  broadcastId: null,
  templateId: null,
  topicId: null,
} as const satisfies Partial<NewEmail['row']>

export function newEmailOf(
  { clock, newId, simulatorDomains, expireAfterMs }: NewEmailOptions,
  sender: Sender,
  email: PreparedEmail,
  attachments: readonly StagedAttachment[],
): NewEmail {
  const now = clock.now()
  const id = newId(now)
  const recipients = envelopeRecipients(email, email.raw?.recipients).map(recipient => ({
    ...recipient,
    simulated: simulatorDomains.has(recipient.domain),
  }))
  return {
    row: {
      accountId: sender.accountId,
      id,
      apiKeyId: sender.apiKeyId,
      sender: storedMailboxes([email.from])!,
      toList: storedMailboxes(email.to),
      ccList: storedMailboxes(email.cc),
      bccList: storedMailboxes(email.bcc),
      replyToList: storedMailboxes(email.replyTo),
      subject: email.subject,
      variables: null,
      headers: jsonOrNull(email.headers),
      attachments: jsonOrNull(attachments.map(file => storedAttachment(file, wireId('att', newId(now))))),
      tags: jsonOrNull(email.tags),
      raw: email.raw?.message.hash ?? null,
      dsn: email.raw?.dsn ? JSON.stringify(email.raw.dsn) : null,
      messageId: email.messageId ?? ownMessageId(id, email.from.domain),
      recipientCount: recipients.length,
      createdAt: now,
      scheduledAt: email.scheduledAt,
      openCount: 0,
      clickCount: 0,
      broadcastId: null,
      templateId: email.templateId,
      topicId: email.topicId,
    },
    fromDomain: email.from.domain,
    content: email.content,
    blobs: [...attachments.map(({ blob }) => blob), ...(email.raw ? [email.raw.message] : [])],
    recipients,
    simulated: recipients.every(recipient => recipient.simulated),
    owesNotices: owesNotices(email.raw?.dsn ?? null, simulatorDomains),
    class: DELIVERY_CLASS.transactional,
    expiresAt: (email.scheduledAt ?? now) + expireAfterMs,
  }
}

function owesNotices(dsn: Dsn | null, simulatorDomains: ReadonlySet<string>): boolean {
  if (dsn === null || dsn === 'notice' || !wantsNotices(dsn)) return false
  const to = parseForeignAddress(dsn.sender)
  return 'fault' in to || !simulatorDomains.has(to.domain)
}

function storedAttachment(
  { filename, contentType, contentId, blob: { sizeBytes, hash } }: StagedAttachment,
  id: string,
): StoredAttachment {
  return { id, filename, contentType, contentId, sizeBytes, hash: blobName(hash) }
}

function jsonOrNull(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list)
}
