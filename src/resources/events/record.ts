/**
 * Records what happened: timeline entries, the states of deliveries, and the status of their email, in one
 * transaction.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import type { Tx } from '../../store/command.ts'
import {
  DELIVERY_STATE,
  type DeliveryRow,
  type DeliveryStatus,
  type EmailRow,
  type EmailStatus,
  type EventRow,
} from '../../store/schema.ts'
import { type AttemptRef, EVENTS_COUNTER, eventRow } from '../emails/event-rows.ts'
import { type BroadcastRef, countForBroadcast } from './broadcast-counts.ts'
import { emailStatus, withoutFeedback } from './email-status.ts'
import { countEvent, type EmailOrigin, metricsKey } from './metrics.ts'
import { type Outgoing, queueForWebhooks } from './outbox.ts'
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
  /** That has all of `data`: they are kept there alone. */
  attempt?: AttemptRef
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
  event: Pick<NewEvent, 'type' | 'data' | 'attempt'> | null
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
  'simulated',
  'error',
  'sentAt',
  'lastEventAt',
  'endedAt',
  'domainId',
  'broadcastId',
] as const
/** Asked about by one statement. */
const EMAILS_AT_ONCE = 1_000
type EmailState = Pick<EmailRow, (typeof EMAIL_COLUMNS)[number]>
type DeliveryState = Pick<DeliveryRow, 'ordinal' | 'status' | 'state' | 'signedAt' | 'simulated'>

/** Adds events to the timeline of their subject, and queues them for the webhooks that are told of them. */
export async function recordEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  const subscribersOf = await tx.subscribers(events.map(({ accountId }) => accountId))
  const outgoing: Outgoing[] = []
  const rows: EventRow[] = []
  const recorded: NewEvent[] = []
  for (const event of events) {
    const { accountId, subjectId, type, recipient, data, at, attempt } = event
    const webhookIds = subscribersOf(accountId).flatMap(({ webhookId, types }) =>
      types.has(type) ? [webhookId] : [],
    )
    if (webhookIds.length === 0 && isOnlyForWebhooks(type)) continue
    const id = tx.newId(at)
    const row = { subjectId, id, accountId, type, recipient, createdAt: at }
    rows.push(eventRow(row, data, attempt))
    recorded.push(event)
    if (webhookIds.length > 0) outgoing.push({ accountId, webhookIds, event: { ...event, id } })
  }
  await tx.rows.insert('events', rows)
  countEvents(tx, recorded)
  await queueForWebhooks(tx, outgoing)
}

/** What is counted alike is counted once: a group of a thousand deliveries says the same a thousand times. */
function countEvents(tx: Tx, events: readonly NewEvent[]) {
  for (const [{ accountId }, times] of counted(events, event => idKey(event.accountId)))
    tx.count(accountId, EVENTS_COUNTER, '', times)
  const metered = events.filter(({ origin }) => origin !== null)
  for (const [event, times] of counted(metered, metricsKey))
    countEvent(tx, { ...event, times }, event.origin!)
}

/** The first of each kind, and how many there are. */
function counted<T>(things: readonly T[], keyOf: (thing: T) => string): (readonly [T, number])[] {
  return [...Map.groupBy(things, keyOf).values()].map(group => [group[0]!, group.length])
}

/** A contact has no timeline; an import of a million would be a million events that nobody asked for. */
function isOnlyForWebhooks(type: EventType): boolean {
  return type.startsWith('contact.')
}

/**
 * Applies the changes and brings the emails concerned to the status that follows from all their deliveries.
 */
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
  const changed = emails.flatMap((email, i) => (email ? [{ email, changes: byEmail[i]! }] : []))
  const known = await deliveriesOf(
    tx,
    changed.filter(one => !onlyDelivery(one)).map(({ email }) => email),
  )
  const records = changed.map(one => recordOf(one, onlyDelivery(one) ?? known(one.email)))
  await recordEvents(
    tx,
    records.flatMap(({ events }) => events),
  )
  await moveEmails(tx, records)
}

/**
 * The first deliveries of emails are under way and take their time: says so without waiting for their
 * outcome.
 */
export async function recordHandedOver(
  tx: Tx,
  handed: readonly { accountId: Id; emailId: Id; at: number }[],
): Promise<void> {
  const byEmail = [...Map.groupBy(handed, ({ emailId }) => idKey(emailId)).values()]
  const found = await tx.rows.lock(
    'emails',
    byEmail.map(([first]) => ({ accountId: first!.accountId, id: first!.emailId })),
    EMAIL_COLUMNS,
  )
  const unsaid = found.flatMap((email, i) =>
    email && email.sentAt === null ? [{ email, at: byEmail[i]![0]!.at }] : [],
  )
  const known = await deliveriesOf(
    tx,
    unsaid.map(({ email }) => email),
  )
  await recordEvents(
    tx,
    unsaid.map(({ email, at }) => sentEvent(email, at)),
  )
  await moveEmails(
    tx,
    unsaid.map(({ email, at }) => ({
      email,
      set: { status: statusOf(email, known(email), true), sentAt: at, lastEventAt: at },
    })),
  )
}

/** Keeps the totals per status in step with a new email. */
export function countNewEmail(tx: Tx, email: BroadcastRef, status: EmailStatus): void {
  countStatus(tx, email, status, 1)
}

/** Keeps the number of events in step with those deleted. */
export function countDeletedEvents(tx: Tx, accountId: Id, count: number): void {
  tx.count(accountId, EVENTS_COUNTER, '', -count)
}

/** The same for emails that have been deleted; what they were stays in the totals of their broadcast. */
export function countDeletedEmail(tx: Tx, accountId: Id, status: EmailStatus): void {
  tx.count(accountId, `emails.${status}`, '', -1)
}

function countStatus(tx: Tx, email: BroadcastRef, status: EmailStatus, delta: number) {
  tx.count(email.accountId, `emails.${status}`, '', delta)
  countForBroadcast(tx, email, `status.${status}`, delta)
}

/** An email with what changes of its deliveries. */
interface Changed {
  email: EmailState
  changes: readonly DeliveryChange[]
}

/** Where the change says all there is to know of the email's deliveries. */
function onlyDelivery({ email, changes }: Changed): DeliveryState[] | undefined {
  return email.feedback === 1 && email.recipientCount === 1 ? [stateAfter(email, changes.at(-1)!)] : undefined
}

/** @param deliveries all of the email's, as they are now */
function recordOf(
  { email, changes }: Changed,
  deliveries: readonly DeliveryState[],
): EmailMove & { events: NewEvent[] } {
  const handedOverAt = changes.find(change => change.handedOverAt !== null)?.handedOverAt ?? null
  const told = changes.filter(change => isTold(email, change, deliveries))
  const events: NewEvent[] = []
  if (email.sentAt === null && handedOverAt !== null) events.push(sentEvent(email, handedOverAt))
  for (const change of told) {
    const { accountId, emailId: subjectId, recipient, event, at } = change
    const origin = originOf(email, change, deliveries)
    if (event) events.push({ ...event, accountId, subjectId, recipient, at, origin })
  }

  const sentAt = email.sentAt ?? handedOverAt
  const status = statusOf(email, deliveries, sentAt !== null)
  const error = told.findLast(change => change.error !== null)?.error ?? email.error
  const times = events.map(({ at }) => at)
  const lastEventAt = times.length === 0 ? email.lastEventAt : Math.max(email.lastEventAt ?? 0, ...times)
  const endedAt = email.endedAt ?? endOf(deliveries, changes)
  return { email, events, set: { status, error, sentAt, lastEventAt, endedAt } }
}

/** An event of a delivery is simulated where that delivery is, whoever the email's other recipients are. */
function originOf(
  { domainId, broadcastId, simulated: isWholly }: EmailState,
  { ordinal }: DeliveryChange,
  deliveries: readonly DeliveryState[],
): EmailOrigin {
  const delivery = deliveries.find(candidate => candidate.ordinal === ordinal)
  return { domainId, broadcastId, simulated: delivery?.simulated ?? isWholly }
}

/** Asked for together; none of an email that was not asked for. */
async function deliveriesOf(
  tx: Tx,
  emails: readonly EmailState[],
): Promise<(email: EmailState) => DeliveryState[]> {
  const byEmail = new Map<string, DeliveryState[]>(emails.map(({ id }) => [idKey(id), []]))
  for (let at = 0; at < emails.length; at += EMAILS_AT_ONCE) {
    const rows = await tx.db
      .selectFrom('deliveries')
      .select(['emailId', 'ordinal', 'status', 'state', 'signedAt', 'simulated'])
      .where(
        'emailId',
        'in',
        emails.slice(at, at + EMAILS_AT_ONCE).map(({ id }) => id),
      )
      .execute()
    for (const { emailId, ...state } of rows) byEmail.get(idKey(emailId))!.push(state)
  }
  return ({ id }) => byEmail.get(idKey(id)) ?? []
}

/** Of an email with one recipient, which is simulated where its email is. */
function stateAfter({ simulated }: EmailState, { ordinal, set }: DeliveryChange): DeliveryState {
  return { ordinal, status: set.status, state: set.state, signedAt: set.signedAt ?? null, simulated }
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

/** An email, and the state it comes to. */
interface EmailMove {
  email: Pick<EmailState, 'accountId' | 'id' | 'status' | 'broadcastId'>
  set: Partial<EmailState> & { status: EmailStatus }
}

/** Brings emails to another state, and the totals per status with them. */
export async function moveEmails(tx: Tx, moves: readonly EmailMove[]): Promise<void> {
  await tx.rows.update(
    'emails',
    ['accountId', 'id'],
    moves.map(({ email: { accountId, id }, set }) => ({ ...set, accountId, id })),
  )
  const changed = moves.filter(({ email, set }) => set.status !== email.status)
  await tx.indexBlocks.moved(
    changed.map(({ email: { accountId, id }, set: { status } }) => ({ accountId, id, status })),
  )
  for (const [{ email, set }, times] of counted(changed, statusKey)) {
    countStatus(tx, email, email.status, -times)
    countStatus(tx, email, set.status, times)
  }
}

function statusKey({
  email: { accountId, broadcastId, status: former },
  set: { status },
}: EmailMove): string {
  return `${idKey(accountId)}${broadcastId ? idKey(broadcastId) : ''} ${former} ${status}`
}

function sentEvent(email: EmailState, at: number): NewEvent {
  const { accountId, id: subjectId } = email
  return { accountId, subjectId, type: 'email.sent', recipient: null, data: {}, at, origin: email }
}
