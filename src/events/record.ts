/** Records what happened: timeline entries, the states of deliveries, and the status of their email, in one transaction. */
import { type Id, idKey } from '../lib/ids.ts'
import type { Tx } from '../store/command.ts'
import {
  DELIVERY_STATE,
  type DeliveryRow,
  type DeliveryStatus,
  type EmailRow,
  type EmailStatus,
} from '../store/schema.ts'
import { emailStatus, withoutFeedback } from './email-status.ts'
import { countEvent, type EmailOrigin } from './metrics.ts'
import type { EventData, EventType } from './types.ts'

export interface NewEvent {
  accountId: Id
  /** The email, contact or domain it is about. */
  subjectId: Id
  type: EventType
  recipient: string | null
  data: EventData
  at: number
  /** By what it is counted in the metrics; null where it is not. */
  origin: EmailOrigin | null
  /** The recipient had done the like before; for opens and clicks. */
  isRepeated?: boolean
}

/** A delivery's new state, with the event that tells of it. */
export interface DeliveryChange {
  accountId: Id
  emailId: Id
  ordinal: number
  set: Partial<Omit<DeliveryRow, 'emailId' | 'ordinal' | 'accountId'>> & Pick<DeliveryRow, 'status' | 'state'>
  recipient: string
  event: { type: EventType; data: EventData } | null
  /** Becomes the email's `error`, for bounced, failed and suppressed recipients. */
  error: string | null
  at: number
  /** When the delivery was handed to the transfer agent, if it was: the email's `email.sent`, once. */
  handedOverAt: number | null
}

const EMAIL_COLUMNS = [
  'accountId',
  'id',
  'status',
  'recipientCount',
  'feedback',
  'error',
  'sentAt',
  'lastEventAt',
  'endedAt',
  'domainId',
  'broadcastId',
] as const
type EmailState = Pick<EmailRow, (typeof EMAIL_COLUMNS)[number]>
type DeliveryState = Pick<DeliveryRow, 'ordinal' | 'status' | 'state' | 'signedAt'>

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
  for (const event of events) if (event.origin) countEvent(tx, event, event.origin)
}

/** Applies the changes and brings the emails concerned to the status that follows from all their deliveries. */
export async function recordDeliveries(tx: Tx, changes: readonly DeliveryChange[]): Promise<void> {
  await tx.rows.update(
    'deliveries',
    ['emailId', 'ordinal'],
    changes.map(({ emailId, ordinal, set }) => ({ ...set, emailId, ordinal })),
  )
  const byEmail = [...Map.groupBy(changes, ({ emailId }) => idKey(emailId)).values()]
  const emails = await tx.rows.lock(
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
  const [email] = await tx.rows.lock(
    'emails',
    [{ accountId: handed.accountId, id: handed.emailId }],
    EMAIL_COLUMNS,
  )
  if (!email || email.sentAt !== null) return
  await recordEvents(tx, [sentEvent(email, handed.at)])
  const status = statusOf(email, await deliveriesOf(tx, email), true)
  await moveEmail(tx, email, { status, sentAt: handed.at, lastEventAt: handed.at })
}

/** Keeps the totals per status in step with a new email. */
export function countNewEmail(tx: Tx, accountId: Id, status: EmailStatus): void {
  tx.count(accountId, `emails.${status}`, '', 1)
}

/** The same for emails that have been deleted. */
export function countDeletedEmail(tx: Tx, accountId: Id, status: EmailStatus): void {
  tx.count(accountId, `emails.${status}`, '', -1)
}

async function recordOfEmail(tx: Tx, email: EmailState, changes: readonly DeliveryChange[]): Promise<void> {
  const handedOverAt = changes.find(change => change.handedOverAt !== null)?.handedOverAt ?? null
  const only = email.feedback === 1 && email.recipientCount === 1 ? changes.at(-1)! : undefined
  const deliveries = only ? [stateAfter(only)] : await deliveriesOf(tx, email)
  const told = changes.filter(change => isTold(email, change, deliveries))
  const events: NewEvent[] = []
  if (email.sentAt === null && handedOverAt !== null) events.push(sentEvent(email, handedOverAt))
  for (const { accountId, emailId: subjectId, recipient, event, at } of told)
    if (event) events.push({ ...event, accountId, subjectId, recipient, at, origin: email })
  await recordEvents(tx, events)

  const sentAt = email.sentAt ?? handedOverAt
  const status = statusOf(email, deliveries, sentAt !== null)
  const error = told.findLast(change => change.error !== null)?.error ?? email.error
  const times = events.map(({ at }) => at)
  const lastEventAt = times.length === 0 ? email.lastEventAt : Math.max(email.lastEventAt ?? 0, ...times)
  const endedAt = email.endedAt ?? endOf(deliveries, changes)
  await moveEmail(tx, email, { status, error, sentAt, lastEventAt, endedAt })
}

async function deliveriesOf(tx: Tx, { id }: EmailState): Promise<DeliveryState[]> {
  return tx.db
    .selectFrom('deliveries')
    .select(['ordinal', 'status', 'state', 'signedAt'])
    .where('emailId', '=', id)
    .execute()
}

function stateAfter({ ordinal, set }: DeliveryChange): DeliveryState {
  return { ordinal, status: set.status, state: set.state, signedAt: set.signedAt ?? null }
}

function statusOf(email: EmailState, deliveries: readonly DeliveryState[], handedOver: boolean): EmailStatus {
  return emailStatus(
    deliveries.map(delivery => visible(email, delivery)),
    handedOver,
    email.status,
  )
}

function isTold(email: EmailState, { ordinal, set }: DeliveryChange, deliveries: readonly DeliveryState[]) {
  const delivery = deliveries.find(candidate => candidate.ordinal === ordinal)
  return delivery === undefined || visible(email, { ...delivery, status: set.status }) === set.status
}

/** A delivery that was signed has been handed over. */
function visible({ feedback }: EmailState, { status, signedAt }: DeliveryState): DeliveryStatus {
  return feedback === 1 ? status : withoutFeedback(status, signedAt !== null)
}

/** The end of an email is that of its last delivery. */
function endOf(deliveries: readonly DeliveryState[], changes: readonly DeliveryChange[]): number | null {
  const ended = deliveries.every(({ state }) => state === DELIVERY_STATE.done)
  return ended ? Math.max(...changes.map(({ at }) => at)) : null
}

/** Brings an email to another state, and the totals per status with it. */
export async function moveEmail(
  tx: Tx,
  { accountId, id, status: former }: Pick<EmailState, 'accountId' | 'id' | 'status'>,
  set: Partial<EmailState> & { status: EmailStatus },
): Promise<void> {
  await tx.rows.update('emails', ['accountId', 'id'], [{ ...set, accountId, id }])
  if (set.status === former) return
  await tx.segments.moved(accountId, id, set.status)
  tx.count(accountId, `emails.${former}`, '', -1)
  tx.count(accountId, `emails.${set.status}`, '', 1)
}

function sentEvent(email: EmailState, at: number): NewEvent {
  const { accountId, id: subjectId } = email
  return { accountId, subjectId, type: 'email.sent', recipient: null, data: {}, at, origin: email }
}
