/** Summarizes the queue for the operator: numbers of deliveries by domain or destination, state and age. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Id, idTime } from '../../lib/ids.ts'
import { readCause } from '../../resources/emails/explanation/cause.ts'
import {
  type Explanation,
  explainDelivery,
  type Obstacle,
} from '../../resources/emails/explanation/explain.ts'
import { type Db, DELIVERY_CLASS, DELIVERY_STATE, type DeliveryRow } from '../../store/model/schema.ts'
import { listPausedDestinations } from './destination-states.ts'
import { coversQueueKey, type Holds, holdsOf, listHolds } from './hold-rows.ts'

export const VIEW_BY = ['domain', 'destination'] as const

export interface QueueQuestion {
  by: (typeof VIEW_BY)[number]
  /** Restricts the view to a recipient domain; null for all. */
  domain: string | null
  /** Null for all accounts. */
  accountId: Id | null
  /** Null for all delivery classes. */
  class: number | null
  now: number
  limit: number
  offset: number
}

export interface QueueTally {
  neverTried: number
  deferred: number
  underWay: number
  /** Number of deliveries held by the operator; they are not part of the other numbers. */
  held: number
  /** Numbers of deliveries by age of the email: up to each of `AGE_LIMITS`, and older. */
  ages: number[]
}

export interface QueueEntry extends QueueTally {
  /** A domain or a destination; null for domains whose destination is not known yet. */
  name: string | null
  /** Destination of the last mail to the domain; null when grouped by destination. */
  destination: string | null
  /** Time at which the oldest email was created, in ms since the epoch. */
  oldestAt: number
  /** Time at which the next attempt is due, in ms since the epoch; null when none is planned. */
  nextAt: number | null
  /** Last reply to a deferred delivery, with the name of the MX host. */
  lastReply: string | null
  /** Why that delivery waits; null when none is deferred. */
  explanation: Explanation | null
}

export interface QueueView {
  /** Time of the snapshot, in ms since the epoch. */
  at: number
  total: number
  totals: QueueTally
  /** Time at which the oldest email was created, in ms since the epoch; null when there is none. */
  oldestAt: number | null
  /** Sorted by the number of deliveries, the most first. */
  entries: QueueEntry[]
}

/** Asks for the numbers of the whole queue without its entries. */
export const WHOLE_QUEUE = { by: 'domain', domain: null, accountId: null, limit: 0, offset: 0 } as const

/** Age limits in minutes. Each is twice the previous one, as in Postfix `qshape`. */
export const AGE_LIMITS = [5, 10, 20, 40, 80, 160, 320, 640, 1_280] as const
const MINUTE_MS = 60_000

/** Deliveries of one queue key in one state. */
interface Group {
  state: number
  domain: string
  class: number
  accountId: Id
  count: number
  nextAt: number
  oldestId: Id
  /** Numbers of deliveries younger than each of the limits. */
  younger: number[]
}

export interface QueueSnapshot {
  /** Time of the snapshot, in ms since the epoch. */
  at: number
  groups: Group[]
  /** Number of deliveries in all groups. */
  count: number
  /** Destinations by domain, read on first use. */
  destinations?: Promise<ReadonlyMap<string, string>>
}

/**
 * Groups that are read at once. The event loop runs between two reads: reading a million deliveries of a
 * thousand groups takes 0.7 s.
 */
const GROUPS_PER_STEP_MAX = 50

export async function viewQueue(db: Db, question: QueueQuestion): Promise<QueueView> {
  return queueViewOf(db, await readQueue(db, question.now, question.domain), question)
}

/**
 * Reads the queue from the index. The cost grows with the number of deliveries.
 * @param domain restricts the snapshot; null for all
 */
export async function readQueue(db: Db, now: number, domain: string | null): Promise<QueueSnapshot> {
  const groups: Group[] = []
  for (const state of [DELIVERY_STATE.waiting, DELIVERY_STATE.leased, DELIVERY_STATE.held])
    for (let more = true, last: Group | undefined; more; await yieldToEventLoop()) {
      const some = await groupsAfter(db, state, { domain, now }, last)
      groups.push(...some)
      last = some.at(-1)
      more = some.length === GROUPS_PER_STEP_MAX
    }
  return { at: now, groups, count: groups.reduce((sum, { count }) => sum + count, 0) }
}

/** Answers a question from the snapshot, with the current holds. */
export async function queueViewOf(
  db: Db,
  snapshot: QueueSnapshot,
  question: QueueQuestion,
): Promise<QueueView> {
  const holds = holdsOf(await listHolds(db))
  if (question.by === 'destination') snapshot.destinations ??= destinationsOf(db)
  const destinations = question.by === 'destination' ? await snapshot.destinations : undefined
  const entries = new Map<string | null, QueueEntry>()
  const wanted = snapshot.groups.filter(group => isWanted(question, group))
  for (const group of wanted) {
    const name = destinations ? (destinations.get(group.domain) ?? null) : group.domain
    const entry = entries.get(name) ?? emptyEntry(name)
    entries.set(name, entry)
    add(entry, group, holds)
  }
  const sorted = [...entries.values()].sort((a, b) => countOf(b) - countOf(a) || compare(a.name, b.name))
  const page = sorted.slice(question.offset, question.offset + question.limit)
  const pauses = await pausesAt(db, question.now)
  if (question.by === 'domain') await addDetails(db, page, wanted, { now: question.now, pauses })
  for (const entry of page) {
    const until = pauses.get(destinationOf(question.by, entry) ?? '')
    if (until !== undefined && entry.nextAt !== null) entry.nextAt = Math.max(entry.nextAt, until)
  }
  const oldestAt = sorted.reduce<number | null>(
    (oldest, entry) => Math.min(oldest ?? entry.oldestAt, entry.oldestAt),
    null,
  )
  return { at: snapshot.at, total: sorted.length, totals: totalOf(sorted), oldestAt, entries: page }
}

async function groupsAfter(
  db: Db,
  state: number,
  { domain, now }: { domain: string | null; now: number },
  last: Group | undefined,
): Promise<Group[]> {
  const after = last
    ? sql`and (domain, class, account_id) > (${last.domain}, ${last.class}, ${last.accountId})`
    : sql``
  const ofDomain = domain === null ? sql`` : sql`and domain = ${domain}`
  const younger = AGE_LIMITS.map(
    minutes => sql`sum(case when email_id >= ${idAt(now - minutes * MINUTE_MS)} then 1 else 0 end)`,
  )
  // one column for all limits, because there are many rows
  const { rows } = await sql<Omit<Group, 'younger' | 'state'> & { younger: string }>`
    select domain, class, account_id, count(*) as count, min(next_at) as next_at, min(email_id) as oldest_id,
      ${sql.join(younger, sql` || ',' || `)} as younger
    from deliveries where state = ${sql.lit(state)} ${ofDomain} ${after}
    group by domain, class, account_id order by domain, class, account_id limit ${GROUPS_PER_STEP_MAX}`.execute(
    db,
  )
  return rows.map(row => ({
    ...row,
    state,
    count: Number(row.count),
    younger: row.younger.split(',').map(Number),
  }))
}

/** Returns an id smaller than all ids created at that time or later. */
function idAt(at: number): Id {
  const id = Buffer.alloc(16)
  id.writeUIntBE(Math.max(0, at), 0, 6)
  return id
}

function isWanted({ domain, accountId, class: wanted }: QueueQuestion, group: Group): boolean {
  const selector = { domain, accountId, broadcastId: null, emailId: null }
  return coversQueueKey(selector, group) && (wanted === null || wanted === group.class)
}

function add(entry: QueueEntry, group: Group, holds: Holds): void {
  const { waiting, leased } = DELIVERY_STATE
  const { state } = group
  const isHeld = state === waiting ? holds.holdsQueueKey(group) : state !== leased
  if (isHeld) entry.held += group.count
  else if (state === leased) entry.underWay += group.count
  else if (group.class === DELIVERY_CLASS.retry) entry.deferred += group.count
  else entry.neverTried += group.count
  if (state === waiting && !isHeld)
    entry.nextAt = Math.min(entry.nextAt ?? Number.POSITIVE_INFINITY, group.nextAt)
  entry.oldestAt = Math.min(entry.oldestAt, idTime(group.oldestId))
  const bounds = [0, ...group.younger, group.count]
  for (const i of entry.ages.keys()) entry.ages[i]! += bounds[i + 1]! - bounds[i]!
}

/** Adds the details that are only read for the entries of the page. */
async function addDetails(
  db: Db,
  page: readonly QueueEntry[],
  groups: readonly Group[],
  { now, pauses }: { now: number; pauses: ReadonlyMap<string, number> },
): Promise<void> {
  if (page.length === 0) return
  const destinations = await destinationsOf(
    db,
    page.map(({ name }) => name!),
  )
  const deferred = firstDeferred(groups)
  for (const entry of page) {
    const queueKey = deferred.get(entry.name!)
    const last = queueKey && (await findLastReply(db, entry.name!, queueKey.accountId))
    entry.destination = destinations.get(entry.name!) ?? null
    const gate = pauseOf(entry.destination, pauses)
    entry.explanation = last ? explainDelivery(last, { now, cause: readCause(last, undefined), gate }) : null
    entry.lastReply = [last?.lastMxHost, last?.lastReply].filter(text => text).join(': ') || null
  }
}

/** Returns the end of the pause of each destination that is paused for all source addresses. */
async function pausesAt(db: Db, now: number): Promise<Map<string, number>> {
  const states = await listPausedDestinations(db, now)
  return new Map(
    states.flatMap(({ destination, source, pausedUntil }) =>
      source === '' ? [[destination, pausedUntil]] : [],
    ),
  )
}

function pauseOf(host: string | null, pauses: ReadonlyMap<string, number>): Obstacle | undefined {
  const until = host === null ? undefined : pauses.get(host)
  return host === null || until === undefined ? undefined : { code: 'destination_paused', host, until }
}

export function destinationOf(by: QueueQuestion['by'], { name, destination }: QueueEntry): string | null {
  return by === 'destination' ? name : destination
}

/** Returns the queue key of each domain whose next attempt is due first. */
function firstDeferred(groups: readonly Group[]): Map<string, Group> {
  const first = new Map<string, Group>()
  for (const group of groups) {
    if (group.state !== DELIVERY_STATE.waiting || group.class !== DELIVERY_CLASS.retry) continue
    const known = first.get(group.domain)
    if (!known || group.nextAt < known.nextAt) first.set(group.domain, group)
  }
  return first
}

/** @param domains restricts the result; all domains when absent */
async function destinationsOf(db: Db, domains?: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('domainDestinations')
    .select(['domain', 'destination'])
    .$if(domains !== undefined, query => query.where('domain', 'in', domains!))
    .execute()
  return new Map(rows.map(({ domain, destination }) => [domain, destination]))
}

function emptyTally(): QueueTally {
  return { neverTried: 0, deferred: 0, underWay: 0, held: 0, ages: Array(AGE_LIMITS.length + 1).fill(0) }
}

function emptyEntry(name: string | null): QueueEntry {
  const times = { oldestAt: Number.POSITIVE_INFINITY, nextAt: null }
  return { ...emptyTally(), ...times, name, destination: null, lastReply: null, explanation: null }
}

function totalOf(entries: readonly QueueEntry[]): QueueTally {
  const total = emptyTally()
  for (const { neverTried, deferred, underWay, held, ages } of entries) {
    total.neverTried += neverTried
    total.deferred += deferred
    total.underWay += underWay
    total.held += held
    for (const [i, count] of ages.entries()) total.ages[i]! += count
  }
  return total
}

function countOf({ neverTried, deferred, underWay, held }: QueueTally): number {
  return neverTried + deferred + underWay + held
}

function compare(a: string | null, b: string | null): number {
  return (a ?? '') < (b ?? '') ? -1 : 1
}

const LAST_REPLY = [
  ...(['lastReply', 'lastMxHost', 'cause', 'address', 'domain', 'status', 'state'] as const),
  ...(['attempts', 'nextAt', 'leasedAt', 'expiresAt', 'simulated'] as const),
] as const

/**
 * Last reply to the deferred delivery of the domain that is due first; undefined when none is deferred.
 * @param accountId restricts the search to one account, which makes it cheap; all accounts when absent
 */
export async function findLastReply(
  db: Db,
  domain: string,
  accountId?: Id,
): Promise<Pick<DeliveryRow, (typeof LAST_REPLY)[number]> | undefined> {
  return db
    .selectFrom('deliveries')
    .select(LAST_REPLY)
    .where('state', '=', DELIVERY_STATE.waiting)
    .where('domain', '=', domain)
    .where('class', '=', DELIVERY_CLASS.retry)
    .$if(accountId !== undefined, query => query.where('accountId', '=', accountId!))
    .orderBy('nextAt')
    .limit(1)
    .executeTakeFirst()
}
