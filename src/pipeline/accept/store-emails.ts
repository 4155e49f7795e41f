/**
 * Writes accepted emails: contents, emails, deliveries, counters and first events. It is called in the
 * transaction of the accepting command and of the command that expands a broadcast.
 */

import type { Id } from '../../lib/ids.ts'
import { type Content, type EncodedContent, encodeContent } from '../../resources/emails/content.ts'
import { shareContent } from '../../resources/emails/content-rows.ts'
import { storedCause } from '../../resources/emails/explanation/cause.ts'
import { explainCause } from '../../resources/emails/explanation/explain.ts'
import { joinKnownThreads } from '../../resources/emails/threads.ts'
import { noteForDsn } from '../../resources/events/dsn-notices.ts'
import {
  type Objected,
  ON_SUPPRESSION_LIST,
  scheduledEvent,
  suppressedEvent,
} from '../../resources/events/email-events.ts'
import { countNewEmail, deliveryFigure, type NewEvent, recordEvents } from '../../resources/events/record.ts'
import { referBlobs } from '../../store/blobs/blobs.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import { queueKeyText, type Tx } from '../../store/model/command.ts'
import { type DecidedColumn, emailSourceOf } from '../../store/model/schema/emails.ts'
import {
  DELIVERY_STATE,
  type DeliveryRow,
  type EmailRow,
  type EmailStatus,
  type Flag,
} from '../../store/model/schema.ts'
import type { DueQueueKey } from '../queue/queue-key-rows.ts'
import type { EnvelopeRecipient } from './recipients.ts'

/** A content that is stored and in use already. */
interface NewStoredContent {
  contentId: number
}

/** An email that is complete except for the decisions of the transaction. */
export interface NewEmail {
  row: Omit<EmailRow, DecidedColumn>
  fromDomain: string
  /** Emails with the same content share one object. */
  content: Content | EncodedContent | NewStoredContent
  blobs: StagedBlob[]
  recipients: (EnvelopeRecipient & { simulated: boolean })[]
  /** True if all recipients are simulator addresses. Such an email needs no verified domain. */
  simulated: boolean
  /** True if notifications of delivery may have to be sent to an address outside of the simulator. */
  owesNotices: boolean
  class: number
  expiresAt: number
}

/** What the transaction decides about a new email. */
export interface EmailDecision {
  email: NewEmail
  domainId: Id | null
  linkTermsId: number | null
  feedback: Flag
  /**
   * By ordinal: the reason why the recipient is suppressed, or null. Recipients of a scheduled email are
   * checked when it is released, so all are null.
   */
  suppressed: (Objected | null)[]
}

export async function storeEmails(tx: Tx, accepted: readonly EmailDecision[]): Promise<void> {
  if (accepted.length === 0) return
  const contentIds = await storeContents(tx, accepted)
  await tx.rows.insert(
    'emails',
    accepted.map(decided => emailRow(decided, contentIds.get(decided.email.content)!)),
  )
  await tx.indexBlocks.arrived(accepted.map(({ email }) => email.row))
  await tx.rows.insert('deliveries', accepted.flatMap(deliveryRows))
  const blobs = accepted.flatMap(({ email }) => email.blobs)
  if (blobs.length > 0) await referBlobs(tx, blobs, accepted[0]!.email.row.createdAt)
  for (const decided of accepted) {
    countEmail(tx, decided)
    if (decided.email.row.scheduledAt === null) keepRecent(tx, decided)
  }
  announceDue(tx, accepted)
  announceScheduled(tx, accepted)
  await joinKnownThreads(
    tx,
    accepted.map(({ email }) => email.row),
  )
  await recordEvents(tx, accepted.flatMap(firstEvents))
  await noteForDsn(tx, accepted.flatMap(suppressedOf))
}

/** Emails that share a content object share a row. */
async function storeContents(
  tx: Tx,
  accepted: readonly EmailDecision[],
): Promise<Map<NewEmail['content'], number>> {
  const uses = new Map<NewEmail['content'], number>()
  for (const { email } of accepted) uses.set(email.content, (uses.get(email.content) ?? 0) + 1)
  const known = new Map<NewEmail['content'], number>()
  const fresh: [Content | EncodedContent, number][] = []
  for (const [content, refs] of uses) {
    if (!('contentId' in content)) {
      fresh.push([content, refs])
      continue
    }
    await shareContent(tx, content.contentId, refs)
    known.set(content, content.contentId)
  }
  const ids = await tx.rows.reserve('contents', fresh.length)
  const rows = fresh.map(([content, refs], i) => ({ id: ids[i]!, ...storedForm(content), refs }))
  await tx.rows.insert('contents', rows)
  return new Map([...known, ...fresh.map(([content], i) => [content, ids[i]!] as const)])
}

function storedForm(content: Content | EncodedContent): EncodedContent {
  return 'encoding' in content ? content : encodeContent(content)
}

function emailRow(decided: EmailDecision, contentId: number): EmailRow {
  const { email, domainId, linkTermsId, feedback, suppressed } = decided
  const { createdAt, scheduledAt } = email.row
  const status = statusOf(decided)
  return {
    ...email.row,
    domainId,
    linkTermsId,
    contentId,
    feedback,
    simulated: email.simulated ? 1 : 0,
    status,
    error: status === 'suppressed' ? reasonOfAll(suppressed) : null,
    sentAt: null,
    lastEventAt: scheduledAt !== null || suppressed.some(reason => reason !== null) ? createdAt : null,
    endedAt: status === 'suppressed' ? createdAt : null,
  }
}

function statusOf({ email, suppressed }: EmailDecision): EmailStatus {
  if (email.row.scheduledAt !== null) return 'scheduled'
  return suppressed.every(reason => reason !== null) ? 'suppressed' : 'queued'
}

function reasonOfAll(reasons: EmailDecision['suppressed']): string | null {
  if (reasons.every(reason => reason?.message === ON_SUPPRESSION_LIST))
    return 'All recipients are on the suppression list.'
  return reasons.length === 1
    ? reasons[0]!.message
    : 'All recipients are suppressed or not subscribed to the topic.'
}

function deliveryRows({ email, suppressed }: EmailDecision): Partial<DeliveryRow>[] {
  const { accountId, id: emailId, createdAt, scheduledAt } = email.row
  const waiting = scheduledAt === null ? DELIVERY_STATE.waiting : DELIVERY_STATE.scheduled
  return email.recipients.map(({ address, domain, simulated, kind }, ordinal) => ({
    emailId,
    ordinal,
    accountId,
    address,
    domain,
    simulated: simulated ? 1 : 0,
    kind,
    class: email.class,
    state: suppressed[ordinal] === null ? waiting : DELIVERY_STATE.done,
    status: suppressed[ordinal] === null ? 'queued' : 'suppressed',
    attempts: 0,
    cause: storedCause(suppressed[ordinal]?.cause),
    nextAt: scheduledAt ?? createdAt,
    expiresAt: email.expiresAt,
  }))
}

/** Keeps a short email in the writer's memory, since its delivery is about to be claimed. */
function keepRecent(tx: Tx, decided: EmailDecision) {
  const { email, domainId, linkTermsId } = decided
  const { row, content } = email
  if (statusOf(decided) === 'suppressed' || 'encoding' in content || 'contentId' in content) return
  tx.recent.put(row.id, emailSourceOf(row, { domainId, linkTermsId, content }))
}

function countEmail(tx: Tx, decided: EmailDecision) {
  countNewEmail(tx, decided.email.row, statusOf(decided))
  const suppressedCount = decided.suppressed.filter(message => message !== null).length
  if (suppressedCount > 0) tx.tally(deliveryFigure('suppressed'), suppressedCount)
}

/** Announces each queue key once. */
function announceDue(tx: Tx, accepted: readonly EmailDecision[]) {
  const queueKeys = new Map<string, DueQueueKey>()
  for (const { email, suppressed } of accepted) {
    const { accountId, createdAt: at, scheduledAt } = email.row
    if (scheduledAt !== null) continue
    for (const [i, { domain }] of email.recipients.entries()) {
      const queueKey = { domain, class: email.class, accountId, at }
      const key = queueKeyText(queueKey)
      if (suppressed[i] === null && !queueKeys.has(key)) queueKeys.set(key, queueKey)
    }
  }
  for (const queueKey of queueKeys.values()) tx.announce('due', queueKey)
}

/** Announces the earliest time only. The releaser finds the later ones itself. */
function announceScheduled(tx: Tx, accepted: readonly EmailDecision[]) {
  const times = accepted.flatMap(({ email }) => email.row.scheduledAt ?? [])
  if (times.length > 0)
    tx.announce(
      'scheduled',
      times.reduce((first, at) => Math.min(first, at)),
    )
}

/** Recipients that are suppressed at once, as changes for their notifications. */
function suppressedOf({ email: { row, recipients }, suppressed }: EmailDecision) {
  if (row.dsn === null || row.scheduledAt !== null) return []
  const changes = recipients.flatMap(({ address: recipient }, ordinal) => {
    const objected = suppressed[ordinal]
    if (!objected) return []
    const set = { status: 'suppressed' as const }
    return [{ ordinal, recipient, event: suppressedEvent(objected.message), set, at: row.createdAt }]
  })
  return [{ email: row, changes }]
}

function firstEvents({ email, domainId, suppressed }: EmailDecision): NewEvent[] {
  const { accountId, id: subjectId, createdAt: at, scheduledAt, broadcastId } = email.row
  if (scheduledAt !== null) return [scheduledEvent(accountId, subjectId, scheduledAt, at)]
  return email.recipients.flatMap(({ address: recipient, domain, simulated }, i) => {
    const objected = suppressed[i]
    if (!objected) return []
    const origin = { domainId, broadcastId, simulated: simulated ? (1 as const) : (0 as const) }
    const { type, data } = suppressedEvent(objected.message)
    const explanation = explainCause(objected.cause, {
      address: recipient,
      domain,
      simulated: origin.simulated,
    })
    return [{ accountId, subjectId, type, data: { ...data, explanation }, recipient, at, origin }]
  })
}
