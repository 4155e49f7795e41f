/**
 * Records events, the states of deliveries and the status of their email in one transaction. In: new events
 * or delivery changes. Out: rows, counters and queued webhook deliveries. The commands of acceptance, queue,
 * tracking, inbound and contacts call it.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import { domainOf, foldAddress } from '../../protocols/smtp/address.ts'
import type { Tx } from '../../store/model/command.ts'
import {
  DELIVERY_STATE,
  type DeliveryRow,
  type DeliveryStatus,
  type EmailRow,
  type EmailStatus,
  type EventRow,
} from '../../store/model/schema.ts'
import type { Subscriber } from '../../store/model/subscribers.ts'
import { type AttemptRef, EVENTS_COUNTER, eventRow } from '../emails/event-rows.ts'
import type { Cause } from '../emails/explanation/cause.ts'
import { explainCause } from '../emails/explanation/explain.ts'
import { type BroadcastRef, countForBroadcast } from './broadcast-counts.ts'
import { type Activity, noteActivity } from './contact-activity.ts'
import { noteForDsn } from './dsn-notices.ts'
import { emailStatus, withoutFeedback } from './email-status.ts'
import { countEvent, type EmailOrigin, metricsKey } from './metrics.ts'
import { type Outgoing, queueForWebhooks } from './outbox.ts'
import { type EventData, type EventType, isAboutDomain } from './types.ts'

export interface NewEvent {
  accountId: Id
  /** The email, contact or domain of the event. */
  subjectId: Id
  type: EventType
  recipient: string | null
  data: EventData
  at: number
  /** Attributes for the metrics; null if the event is not counted. */
  origin: EmailOrigin | null
  /** Attempt that has all of `data`, which are then not stored with the event. */
  attempt?: AttemptRef
  /** True if the recipient has opened or clicked the email before. */
  isRepeated?: boolean
  /** Webhooks that get the event; absent for all that subscribe to it. */
  targets?: EventTargets | undefined
}

/** Webhooks that get an event by other means than their subscriptions. */
export interface EventTargets {
  /** Get the event whatever they subscribe to; enabled webhooks of the account. */
  webhookIds: readonly Id[]
  /** Whether those that subscribe get it, too. */
  isForSubscribers: boolean
}

/** New state of a delivery, with its event. */
export interface DeliveryChange {
  accountId: Id
  emailId: Id
  ordinal: number
  set: Partial<Omit<DeliveryRow, 'emailId' | 'ordinal' | 'accountId'>> & Pick<DeliveryRow, 'status' | 'state'>
  recipient: string
  event: Pick<NewEvent, 'type' | 'data' | 'attempt'> | null
  /** Error of the email for a bounced, failed or suppressed recipient. */
  error: string | null
  at: number
  /**
   * Time at which the delivery was handed to the transfer agent, or null. The first one becomes the email's
   * `email.sent` event.
   */
  handedOverAt: number | null
  /** Time until which the delivery is retried after a deferral, in ms since the epoch. */
  expiresAt?: number
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
  'dsn',
  'scheduledAt',
] as const
/** Number of emails per query. */
const EMAILS_PER_QUERY_MAX = 1_000
type EmailState = Pick<EmailRow, (typeof EMAIL_COLUMNS)[number]>
type DeliveryState = Pick<DeliveryRow, 'ordinal' | 'status' | 'state' | 'signedAt' | 'simulated'>

/** Adds events to the timelines of their subjects and queues them for subscribed webhooks. */
export async function recordEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  const subscribersOf = await tx.subscribers(events.map(({ accountId }) => accountId))
  const outgoing: Outgoing[] = []
  const rows: EventRow[] = []
  const recorded: NewEvent[] = []
  for (const event of events) {
    const { accountId, subjectId, type, recipient, data, at, attempt, targets } = event
    const subscribed = subscribersOf(accountId).filter(
      ({ types, domains }) => types.has(type) && (domains === null || isAboutDomain(type)),
    )
    const subscribers = targets ? targeted(targets, subscribed) : subscribed
    if (subscribers.length === 0 && isOnlyForWebhooks(type)) continue
    const id = tx.newId(at)
    const row = { subjectId, id, accountId, type, recipient, createdAt: at }
    rows.push(eventRow(row, data, attempt))
    recorded.push(event)
    if (subscribers.length > 0) outgoing.push({ accountId, subscribers, event: { ...event, id } })
  }
  await tx.rows.insert('events', rows)
  countEvents(tx, recorded)
  await queueForWebhooks(tx, outgoing)
}

function targeted(
  { webhookIds, isForSubscribers }: EventTargets,
  subscribed: readonly Subscriber[],
): Subscriber[] {
  const keys = new Set(webhookIds.map(idKey))
  const others = subscribed.filter(({ webhookId }) => isForSubscribers && !keys.has(idKey(webhookId)))
  return [...others, ...webhookIds.map(webhookId => ({ webhookId, types: NO_TYPES, domains: null }))]
}

const NO_TYPES: ReadonlySet<string> = new Set()

/** Equal events are counted together, since a group of a thousand deliveries has a thousand equal events. */
function countEvents(tx: Tx, events: readonly NewEvent[]) {
  for (const [{ accountId }, times] of counted(events, event => idKey(event.accountId)))
    tx.count(accountId, EVENTS_COUNTER, '', times)
  const metered = events.filter(({ origin }) => origin !== null)
  for (const [event, times] of counted(metered, metricsKey))
    countEvent(tx, { ...event, times }, event.origin!)
}

/** @returns the first of each group and the size of the group */
function counted<T>(things: readonly T[], keyOf: (thing: T) => string): (readonly [T, number])[] {
  return [...Map.groupBy(things, keyOf).values()].map(group => [group[0]!, group.length])
}

/**
 * Contacts have no timeline. Without this rule an import of a million contacts would store a million events
 * that nobody reads.
 */
function isOnlyForWebhooks(type: EventType): boolean {
  return type.startsWith('contact.')
}

/** Figure that counts new emails. */
export const ACCEPTED_FIGURE = 'emails.accepted'

/** @returns the name of the figure that counts deliveries with this new status */
export function deliveryFigure(status: DeliveryStatus): string {
  return `deliveries.${status}`
}

/** Applies changes of deliveries and updates the status of their emails. */
export async function recordDeliveries(tx: Tx, changes: readonly DeliveryChange[]): Promise<void> {
  for (const { set } of changes) tx.tally(deliveryFigure(set.status), 1)
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
  await noteForDsn(tx, changed)
  const records = changed.map(one => recordOf(one, onlyDelivery(one) ?? known(one.email)))
  await recordEvents(
    tx,
    records.flatMap(({ events }) => events),
  )
  await moveEmails(tx, records)
  await noteActivity(tx, 'lastSentAt', changes.flatMap(sendingOf))
}

/** The recipient of a change that comes from an attempt. */
function sendingOf({ accountId, recipient: address, handedOverAt: at }: DeliveryChange): Activity[] {
  return at === null ? [] : [{ accountId, address, at }]
}

/** Records `email.sent` while the first attempts are still in progress, if they take long. */
export async function recordHandedOver(
  tx: Tx,
  transfers: readonly { accountId: Id; emailId: Id; at: number }[],
): Promise<void> {
  const byEmail = [...Map.groupBy(transfers, ({ emailId }) => idKey(emailId)).values()]
  const found = await tx.rows.lock(
    'emails',
    byEmail.map(([first]) => ({ accountId: first!.accountId, id: first!.emailId })),
    EMAIL_COLUMNS,
  )
  const unsent = found.flatMap((email, i) =>
    email && email.sentAt === null ? [{ email, at: byEmail[i]![0]!.at }] : [],
  )
  const known = await deliveriesOf(
    tx,
    unsent.map(({ email }) => email),
  )
  await recordEvents(
    tx,
    unsent.map(({ email, at }) => sentEvent(email, at)),
  )
  await moveEmails(
    tx,
    unsent.map(({ email, at }) => ({
      email,
      set: { status: statusOf(email, known(email), true), sentAt: at, lastEventAt: at },
    })),
  )
}

/** Adds a new email to the totals per status. */
export function countNewEmail(tx: Tx, email: BroadcastRef, status: EmailStatus): void {
  countStatus(tx, email, status, 1)
  tx.tally(ACCEPTED_FIGURE, 1)
}

/** Subtracts deleted events from the number of events. */
export function countDeletedEvents(tx: Tx, accountId: Id, count: number): void {
  tx.count(accountId, EVENTS_COUNTER, '', -count)
}

/** Subtracts a deleted email from the totals of the account. The totals of its broadcast stay. */
export function countDeletedEmail(tx: Tx, accountId: Id, status: EmailStatus): void {
  tx.count(accountId, `emails.${status}`, '', -1)
}

function countStatus(tx: Tx, email: BroadcastRef, status: EmailStatus, delta: number) {
  tx.count(email.accountId, `emails.${status}`, '', delta)
  countForBroadcast(tx, email, `status.${status}`, delta)
}

/** An email with the changes of its deliveries. */
interface Changed {
  email: EmailState
  changes: readonly DeliveryChange[]
}

/** Returns the state of the only delivery if the change determines it, so that no query is needed. */
function onlyDelivery({ email, changes }: Changed): DeliveryState[] | undefined {
  return email.feedback === 1 && email.recipientCount === 1 ? [stateAfter(email, changes.at(-1)!)] : undefined
}

/** @param deliveries all deliveries of the email after the changes */
function recordOf(
  { email, changes }: Changed,
  deliveries: readonly DeliveryState[],
): EmailMove & { events: NewEvent[] } {
  const handedOverAt = changes.find(change => change.handedOverAt !== null)?.handedOverAt ?? null
  const visibleChanges = changes.filter(change => isVisibleChange(email, change, deliveries))
  const events: NewEvent[] = []
  if (email.sentAt === null && handedOverAt !== null) events.push(sentEvent(email, handedOverAt))
  for (const change of visibleChanges) {
    const { accountId, emailId: subjectId, recipient, event, at } = change
    const origin = originOf(email, change, deliveries)
    if (event)
      events.push({ ...explained(event, change, origin), accountId, subjectId, recipient, at, origin })
  }

  const sentAt = email.sentAt ?? handedOverAt
  const status = statusOf(email, deliveries, sentAt !== null)
  const error = visibleChanges.findLast(change => change.error !== null)?.error ?? email.error
  const times = events.map(({ at }) => at)
  const lastEventAt = times.length === 0 ? email.lastEventAt : Math.max(email.lastEventAt ?? 0, ...times)
  const endedAt = email.endedAt ?? endOf(deliveries, changes)
  return { email, events, set: { status, error, sentAt, lastEventAt, endedAt } }
}

/** Adds the explanation to an event that says why a recipient has not got the email. */
function explained(
  event: NonNullable<DeliveryChange['event']>,
  { recipient: address, expiresAt, set: { cause, nextAt } }: DeliveryChange,
  { simulated }: Pick<EmailOrigin, 'simulated'>,
): NonNullable<DeliveryChange['event']> {
  if (cause == null) return event
  const delivery = { address, domain: domainOf(foldAddress(address)), simulated, expiresAt }
  const explanation = explainCause(JSON.parse(cause) as Cause, delivery, nextAt ?? null)
  return { ...event, data: { ...event.data, explanation } }
}

/** The event of a delivery is simulated if this delivery is, regardless of other recipients. */
function originOf(
  { domainId, broadcastId, simulated: isWholly }: EmailState,
  { ordinal }: DeliveryChange,
  deliveries: readonly DeliveryState[],
): EmailOrigin {
  const delivery = deliveries.find(candidate => candidate.ordinal === ordinal)
  return { domainId, broadcastId, simulated: delivery?.simulated ?? isWholly }
}

/** Reads the deliveries of several emails in few queries. The result is empty for any other email. */
async function deliveriesOf(
  tx: Tx,
  emails: readonly EmailState[],
): Promise<(email: EmailState) => DeliveryState[]> {
  const byEmail = new Map<string, DeliveryState[]>(emails.map(({ id }) => [idKey(id), []]))
  for (let at = 0; at < emails.length; at += EMAILS_PER_QUERY_MAX) {
    const rows = await tx.db
      .selectFrom('deliveries')
      .select(['emailId', 'ordinal', 'status', 'state', 'signedAt', 'simulated'])
      .where(
        'emailId',
        'in',
        emails.slice(at, at + EMAILS_PER_QUERY_MAX).map(({ id }) => id),
      )
      .execute()
    for (const { emailId, ...state } of rows) byEmail.get(idKey(emailId))!.push(state)
  }
  return ({ id }) => byEmail.get(idKey(id)) ?? []
}

/** For an email with one recipient, whose delivery is simulated if the email is. */
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

function isVisibleChange(
  email: EmailState,
  { ordinal, set }: DeliveryChange,
  deliveries: readonly DeliveryState[],
) {
  const delivery = deliveries.find(candidate => candidate.ordinal === ordinal)
  return delivery === undefined || visible(email, { ...delivery, status: set.status }) === set.status
}

/** A signed delivery counts as handed over. */
function visible({ feedback }: EmailState, { status, signedAt }: DeliveryState): DeliveryStatus {
  return feedback === 1 ? status : withoutFeedback(status, signedAt !== null)
}

/** An email ends with its last delivery. */
function endOf(deliveries: readonly DeliveryState[], changes: readonly DeliveryChange[]): number | null {
  const ended = deliveries.every(({ state }) => state === DELIVERY_STATE.done)
  return ended ? Math.max(...changes.map(({ at }) => at)) : null
}

/** An email and its new state. */
interface EmailMove {
  email: Pick<EmailState, 'accountId' | 'id' | 'status' | 'broadcastId'>
  set: Partial<EmailState> & { status: EmailStatus }
}

/** Updates emails and the totals per status. */
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
