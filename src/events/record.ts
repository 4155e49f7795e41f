/** Records what happened: timeline entries, the states of deliveries, and the status of their email, in one transaction. */
import { type Id, idKey } from '../lib/ids.ts'
import type { Tx } from '../store/command.ts'
import type { DeliveryRow, DeliveryStatus, EmailRow, EmailStatus } from '../store/schema.ts'
import { emailStatus, withoutFeedback } from './email-status.ts'
import { type EventData, type EventType, FEEDBACK_EVENTS } from './types.ts'

export interface NewEvent {
  accountId: Id
  /** The email, contact or domain it is about. */
  subjectId: Id
  type: EventType
  recipient: string | null
  data: EventData
  at: number
}

/** A delivery's new state, with the event that tells of it. */
export interface DeliveryChange {
  accountId: Id
  emailId: Id
  ordinal: number
  set: Partial<Omit<DeliveryRow, 'emailId' | 'ordinal' | 'accountId' | 'status'>> & { status: DeliveryStatus }
  recipient: string
  event: { type: EventType; data: EventData } | null
  /** Becomes the email's `error`, for bounced, failed and suppressed recipients. */
  error: string | null
  at: number
  /** When the delivery was handed to the transfer agent, if it was: the email's `email.sent`, once. */
  handedOverAt: number | null
}

const EMAIL_COLUMNS = ['accountId', 'id', 'status', 'recipientCount', 'feedback', 'error', 'sentAt'] as const
type EmailState = Pick<EmailRow, (typeof EMAIL_COLUMNS)[number]>

/** Adds events to the timeline of their subject. */
export async function recordEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  await tx.rows.insert(
    'events',
    events.map(({ accountId, subjectId, type, recipient, data, at }) => ({
      subjectId,
      id: tx.newId(at),
      accountId,
      type,
      recipient,
      data: JSON.stringify(data),
      createdAt: at,
    })),
  )
}

/** Applies the changes and brings the emails concerned to the status that follows from all their deliveries. */
export async function recordDeliveries(tx: Tx, changes: readonly DeliveryChange[]): Promise<void> {
  await tx.rows.update(
    'deliveries',
    ['emailId', 'ordinal'],
    changes.map(({ emailId, ordinal, set }) => ({ ...set, emailId, ordinal })),
  )
  const byEmail = [...Map.groupBy(changes, ({ emailId }) => idKey(emailId)).values()]
  const emails = await tx.rows.find(
    'emails',
    byEmail.map(([change]) => ({ accountId: change!.accountId, id: change!.emailId })),
    EMAIL_COLUMNS,
  )
  for (const [i, email] of emails.entries()) if (email) await recordOfEmail(tx, email, byEmail[i]!)
}

/** The first delivery of an email is under way and takes its time: says so without waiting for its outcome. */
export async function recordHandedOver(
  tx: Tx,
  handed: { accountId: Id; emailId: Id; at: number },
): Promise<void> {
  const [email] = await tx.rows.find(
    'emails',
    [{ accountId: handed.accountId, id: handed.emailId }],
    EMAIL_COLUMNS,
  )
  if (!email || email.sentAt !== null) return
  await recordEvents(tx, [sentEvent(email, handed.at)])
  const statuses = await statusesOf(tx, email)
  await moveEmail(tx, email, emailStatus(statuses, true, email.status), email.error, handed.at, handed.at)
}

/** Keeps the totals per status in step with a new email. */
export function countNewEmail(tx: Tx, accountId: Id, status: EmailStatus): void {
  tx.count(accountId, `emails.${status}`, '', 1)
}

async function recordOfEmail(tx: Tx, email: EmailState, changes: readonly DeliveryChange[]): Promise<void> {
  const handedOverAt = changes.find(change => change.handedOverAt !== null)?.handedOverAt ?? null
  const events: NewEvent[] = []
  if (email.sentAt === null && handedOverAt !== null) events.push(sentEvent(email, handedOverAt))
  for (const { accountId, emailId: subjectId, recipient, event, at } of changes)
    if (event && (email.feedback === 1 || !FEEDBACK_EVENTS.has(event.type)))
      events.push({ accountId, subjectId, type: event.type, recipient, data: event.data, at })
  await recordEvents(tx, events)

  const only = email.recipientCount === 1 ? changes.at(-1)!.set.status : undefined
  const deliveries = only === undefined ? await statusesOf(tx, email) : [visible(email, only)]
  const sentAt = email.sentAt ?? handedOverAt
  const status = emailStatus(deliveries, sentAt !== null, email.status)
  const error =
    email.feedback === 1 ? (changes.findLast(change => change.error !== null)?.error ?? null) : null
  await moveEmail(tx, email, status, error ?? email.error, sentAt, changes.at(-1)!.at)
}

async function statusesOf(tx: Tx, email: EmailState): Promise<DeliveryStatus[]> {
  const rows = await tx.db.selectFrom('deliveries').select('status').where('emailId', '=', email.id).execute()
  return rows.map(({ status }) => visible(email, status))
}

function visible(email: EmailState, status: DeliveryStatus): DeliveryStatus {
  return email.feedback === 1 ? status : withoutFeedback(status)
}

async function moveEmail(
  tx: Tx,
  { accountId, id, status: former }: EmailState,
  status: EmailStatus,
  error: string | null,
  sentAt: number | null,
  lastEventAt: number,
): Promise<void> {
  await tx.rows.update('emails', ['accountId', 'id'], [{ accountId, id, status, error, sentAt, lastEventAt }])
  if (status === former) return
  tx.count(accountId, `emails.${former}`, '', -1)
  tx.count(accountId, `emails.${status}`, '', 1)
}

function sentEvent({ accountId, id: subjectId }: EmailState, at: number): NewEvent {
  return { accountId, subjectId, type: 'email.sent', recipient: null, data: {}, at }
}
