/** Encodes and reads the rows of an account's events, in the order in which they were recorded. */
import type { Id } from '../../lib/ids.ts'
import { pack, unpack } from '../../store/model/packed-record.ts'
import type { AttemptRow, Db, EventRow } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import { deliveredData, readRecord } from './attempt-record.ts'

/** Kind of the counter of stored events. */
export const EVENTS_COUNTER = 'events'

/** Data of this type are packed, since every delivered message has such an event. */
const PACKED_TYPE = 'email.delivered'
/** Value of the data column if the data are packed. */
const NO_DATA = '{}'
/** First byte of a reference to an attempt. Packed data begin with other bytes. */
const OF_ATTEMPT = 0
/** The first byte and two 16-bit numbers. */
const REF_BYTES = 5

/** Identifies an attempt of an email. */
export interface AttemptRef {
  ordinal: number
  number: number
}

const RECORDED = ['startedAt', 'finishedAt', 'record'] as const
type RecordedAttempt = Pick<AttemptRow, (typeof RECORDED)[number]>

/**
 * Encodes an event.
 * @param attempt attempt that has all of `data`, see `deliveredData()`
 */
export function eventRow(
  event: Omit<EventRow, 'data' | 'packed'>,
  data: object,
  attempt?: AttemptRef,
): EventRow {
  if (attempt) return { ...event, data: NO_DATA, packed: refTo(attempt) }
  const text = JSON.stringify(data)
  return event.type === PACKED_TYPE
    ? { ...event, data: NO_DATA, packed: pack(text) }
    : { ...event, data: text, packed: null }
}

/**
 * Decodes the data of an event.
 * @param attemptOf returns undefined for a deleted attempt, whose event is about to be deleted, too
 */
export function withData(
  event: EventRow,
  attemptOf: (ref: AttemptRef) => RecordedAttempt | undefined,
): EventRow {
  const { packed } = event
  if (packed === null) return event
  const ref = attemptIn(packed)
  if (!ref) return { ...event, data: unpack(packed), packed: null }
  const attempt = attemptOf(ref)
  return { ...event, data: attempt ? dataOf(attempt) : NO_DATA, packed: null }
}

function dataOf({ startedAt, finishedAt, record }: RecordedAttempt): string {
  const delivery = deliveredData({ ...readRecord(record!), startedAt, finishedAt: finishedAt! })
  return JSON.stringify({ delivery })
}

function refTo({ ordinal, number }: AttemptRef): Uint8Array {
  const bytes = Buffer.alloc(REF_BYTES)
  bytes[0] = OF_ATTEMPT
  bytes.writeUInt16BE(ordinal, 1)
  bytes.writeUInt16BE(number, 3)
  return bytes
}

function attemptIn(packed: Uint8Array): AttemptRef | undefined {
  if (packed[0] !== OF_ATTEMPT) return undefined
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  return { ordinal: bytes.readUInt16BE(1), number: bytes.readUInt16BE(3) }
}

/** Decodes the data of events of several emails. */
async function allWithData(find: Find, events: readonly EventRow[]): Promise<EventRow[]> {
  const keys = events.flatMap(({ packed, subjectId: emailId }) => {
    const ref = packed && attemptIn(packed)
    return ref ? [{ emailId, ...ref }] : []
  })
  const attempts = (await find('attempts', keys, RECORDED)).values()
  return events.map(event => withData(event, () => attempts.next().value))
}

export interface EventPage {
  limit: number
  /** Only events older than this one. */
  after: Id | undefined
  /** Only the next events newer than this one. */
  before: Id | undefined
}

interface ListedEvents {
  /** Number of stored events of the account. */
  total: number
  hasMore: boolean
  events: EventRow[]
}

/**
 * Lists events, newest first.
 * @param horizon epoch ms; events at or before it are not listed
 */
export async function listEvents(
  { db, find }: { db: Db; find: Find },
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
  const events = await allWithData(find, found.slice(0, limit))
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

/**
 * Lists events, oldest first.
 * @param until excluded; null for no limit
 */
export async function eventsAfter(
  { db, find }: { db: Db; find: Find },
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
  return allWithData(find, found)
}

/** Lists the events of several emails, oldest first. */
export async function eventsOfEmails(
  { db, find }: { db: Db; find: Find },
  accountId: Id,
  emailIds: readonly Id[],
): Promise<EventRow[]> {
  if (emailIds.length === 0) return []
  const found = await db
    .selectFrom('events')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('subjectId', 'in', emailIds)
    .orderBy('createdAt')
    .orderBy('id')
    .execute()
  return allWithData(find, found)
}

/** @returns undefined if the account has no event */
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
