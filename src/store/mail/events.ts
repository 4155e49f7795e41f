/** Events of an account, read in the order in which they were recorded. */
import type { Id } from '../../lib/ids.ts'
import { pack, unpack } from '../packed.ts'
import type { Db, EventRow } from '../schema.ts'

/** What is counted of events. */
export const EVENTS_COUNTER = 'events'

/** Every message has such an event. */
const PACKED_TYPE = 'email.delivered'
/** Stands in a row whose data are packed. */
const NO_DATA = '{}'

/** How an event is kept. */
export function eventRow(event: Omit<EventRow, 'packed'>): EventRow {
  return event.type === PACKED_TYPE
    ? { ...event, data: NO_DATA, packed: pack(event.data) }
    : { ...event, packed: null }
}

/** The event with what it tells. */
export function withData(event: EventRow): EventRow {
  return event.packed === null ? event : { ...event, data: unpack(event.packed), packed: null }
}

export interface EventPage {
  limit: number
  /** Those older than this one. */
  after: Id | undefined
  /** Those newer than this one, next to it. */
  before: Id | undefined
}

export interface ListedEvents {
  /** Of the account, as many as are stored. */
  total: number
  hasMore: boolean
  events: EventRow[]
}

/** Newest first. @param horizon epoch ms; what happened then or before is out of sight */
export async function listEvents(
  db: Db,
  accountId: Id,
  horizon: number,
  { limit, after, before }: EventPage,
): Promise<ListedEvents> {
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('createdAt', '>', horizon)
    .orderBy('id', before ? 'asc' : 'desc')
    .limit(limit + 1)
  if (after) query = query.where('id', '<', after)
  if (before) query = query.where('id', '>', before)
  const found = await query.execute()
  const events = found.slice(0, limit).map(withData)
  const counter = await db
    .selectFrom('counters')
    .select('count')
    .where('accountId', '=', accountId)
    .where('kind', '=', EVENTS_COUNTER)
    .where('period', '=', '')
    .executeTakeFirst()
  return {
    total: counter?.count ?? 0,
    hasMore: found.length > limit,
    events: before ? events.reverse() : events,
  }
}

/** Oldest first. @param until not included; null for all there are */
export async function eventsAfter(
  db: Db,
  accountId: Id,
  after: Id,
  { until, limit }: { until: Id | null; limit: number },
): Promise<EventRow[]> {
  const query = db
    .selectFrom('events')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
  const found = await (until ? query.where('id', '<', until) : query).execute()
  return found.map(withData)
}

/** Undefined where the account has none. */
export async function newestEvent(db: Db, accountId: Id): Promise<Id | undefined> {
  const newest = await db
    .selectFrom('events')
    .select('id')
    .where('accountId', '=', accountId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest?.id
}
