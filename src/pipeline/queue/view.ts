/** The queue as the operator sees it: what waits, by domain or site, and how old it is. */
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Id, idTime } from '../../lib/ids.ts'
import { type Db, DELIVERY_CLASS, DELIVERY_STATE } from '../../store/schema.ts'
import { coversQueueKey, type Holds, holdsOf, listHolds } from './hold-rows.ts'

export const VIEW_BY = ['domain', 'site'] as const

export interface QueueQuestion {
  by: (typeof VIEW_BY)[number]
  /** Only what is of these; null for anything. */
  domain: string | null
  accountId: Id | null
  class: number | null
  now: number
  limit: number
  offset: number
}

export interface QueueTally {
  neverTried: number
  deferred: number
  underWay: number
  /** By the operator; counted apart from the rest. */
  held: number
  /** By the minutes since their emails came: up to each of `AGE_LIMITS`, and more. */
  ages: number[]
}

export interface QueueEntry extends QueueTally {
  /** A domain or a site; null for domains whose site is not known yet. */
  name: string | null
  /** Of a domain: where its mail went last. */
  site: string | null
  /** Epoch ms. */
  oldestAt: number
  /** When the next attempt is due; null while none is. */
  nextAt: number | null
  /** What a deferred delivery was told last, and by whom. */
  lastReply: string | null
}

export interface QueueView {
  /** When it was so, epoch ms. */
  at: number
  total: number
  totals: QueueTally
  /** Those with most first. */
  entries: QueueEntry[]
}

/** Minutes; each is twice the one before, as `qshape` has them. */
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
  /** How many are younger than each of the limits. */
  younger: number[]
}

/** The queue as it was at a time. */
export interface QueueSnapshot {
  /** Epoch ms. */
  at: number
  groups: Group[]
  /** Of all groups. */
  count: number
  /** Read when it is asked for the first time. */
  sites?: Promise<ReadonlyMap<string, string>>
}

/**
 * Groups are read so many at a time, and others have their turn in between: a million deliveries of a
 * thousand take 0.7 s.
 */
const GROUPS_PER_STEP_MAX = 50

export async function viewQueue(db: Db, question: QueueQuestion): Promise<QueueView> {
  return queueViewOf(db, await readQueue(db, question.now, question.domain), question)
}

/**
 * Steps over the index of what waits: it costs a look at each delivery that does. @param domain the only one;
 * null for all
 */
export async function readQueue(db: Db, now: number, domain: string | null): Promise<QueueSnapshot> {
  const groups: Group[] = []
  for (const state of [DELIVERY_STATE.waiting, DELIVERY_STATE.leased, DELIVERY_STATE.held])
    for (let more = true, last: Group | undefined; more; await turn()) {
      const some = await groupsAfter(db, state, { domain, now }, last)
      groups.push(...some)
      last = some.at(-1)
      more = some.length === GROUPS_PER_STEP_MAX
    }
  return { at: now, groups, count: groups.reduce((sum, { count }) => sum + count, 0) }
}

/** What a question finds in the snapshot. Holds are those of now. */
export async function queueViewOf(
  db: Db,
  snapshot: QueueSnapshot,
  question: QueueQuestion,
): Promise<QueueView> {
  const holds = holdsOf(await listHolds(db))
  if (question.by === 'site') snapshot.sites ??= sitesOf(db)
  const sites = question.by === 'site' ? await snapshot.sites : undefined
  const entries = new Map<string | null, QueueEntry>()
  const wanted = snapshot.groups.filter(group => isWanted(question, group))
  for (const group of wanted) {
    const name = sites ? (sites.get(group.domain) ?? null) : group.domain
    const entry = entries.get(name) ?? emptyEntry(name)
    entries.set(name, entry)
    add(entry, group, holds)
  }
  const sorted = [...entries.values()].sort((a, b) => countOf(b) - countOf(a) || compare(a.name, b.name))
  const page = sorted.slice(question.offset, question.offset + question.limit)
  if (question.by === 'domain') await describe(db, page, wanted)
  return { at: snapshot.at, total: sorted.length, totals: totalOf(sorted), entries: page }
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
  // one column for all of them: there are many rows
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

/** Smaller than all ids made then or later. */
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

/** What is looked up for those alone that are shown. */
async function describe(db: Db, page: readonly QueueEntry[], groups: readonly Group[]): Promise<void> {
  if (page.length === 0) return
  const sites = await sitesOf(
    db,
    page.map(({ name }) => name!),
  )
  const deferred = firstDeferred(groups)
  for (const entry of page) {
    const queueKey = deferred.get(entry.name!)
    const last = queueKey && (await findLastReply(db, entry.name!, queueKey.accountId))
    entry.site = sites.get(entry.name!) ?? null
    entry.lastReply = [last?.lastMxHost, last?.lastReply].filter(text => text).join(': ') || null
  }
}

/** Of each domain the queue key that waits for the soonest of its next tries. */
function firstDeferred(groups: readonly Group[]): Map<string, Group> {
  const first = new Map<string, Group>()
  for (const group of groups) {
    if (group.state !== DELIVERY_STATE.waiting || group.class !== DELIVERY_CLASS.retry) continue
    const known = first.get(group.domain)
    if (!known || group.nextAt < known.nextAt) first.set(group.domain, group)
  }
  return first
}

/** @param domains all when absent */
async function sitesOf(db: Db, domains?: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('domainSites')
    .select(['domain', 'site'])
    .$if(domains !== undefined, query => query.where('domain', 'in', domains!))
    .execute()
  return new Map(rows.map(({ domain, site }) => [domain, site]))
}

function emptyTally(): QueueTally {
  return { neverTried: 0, deferred: 0, underWay: 0, held: 0, ages: Array(AGE_LIMITS.length + 1).fill(0) }
}

function emptyEntry(name: string | null): QueueEntry {
  const times = { oldestAt: Number.POSITIVE_INFINITY, nextAt: null }
  return { ...emptyTally(), ...times, name, site: null, lastReply: null }
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

/**
 * What the deferred delivery of the domain that is due first was told; undefined when none is deferred.
 * @param accountId the only one whose deliveries count, which spares a look at all of them; that of any when
 * absent
 */
export async function findLastReply(
  db: Db,
  domain: string,
  accountId?: Id,
): Promise<{ lastReply: string | null; lastMxHost: string | null } | undefined> {
  return db
    .selectFrom('deliveries')
    .select(['lastReply', 'lastMxHost'])
    .where('state', '=', DELIVERY_STATE.waiting)
    .where('domain', '=', domain)
    .where('class', '=', DELIVERY_CLASS.retry)
    .$if(accountId !== undefined, query => query.where('accountId', '=', accountId!))
    .orderBy('nextAt')
    .limit(1)
    .executeTakeFirst()
}
