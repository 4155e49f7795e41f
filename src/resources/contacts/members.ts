/**
 * Pages through the members of an audience or a segment in the order of contact ids, for sending broadcasts.
 * Membership is evaluated at the time of each page.
 */
import { foldText } from '../../lib/fold-text.ts'
import { type Id, idBefore, idKey } from '../../lib/ids.ts'
import type { ContactRow, Db, SegmentRow, TopicRow } from '../../store/model/schema.ts'
import { type Condition, everybodyOf, type Membership, membershipOf, type SegmentFilter } from './filters.ts'
import { CHUNK_CONTACTS, memberChunks } from './member-chunks.ts'

const COLUMNS = ['id', 'email', 'firstName', 'lastName', 'unsubscribed', 'properties'] as const

/** `unsubscribed` is informational. The caller decides whether a contact is skipped. */
export type Member = Pick<ContactRow, (typeof COLUMNS)[number]>

export interface MemberPage {
  /** Sorted by id in ascending order. A page may be empty although more follow. */
  members: Member[]
  /** Value of `after` for the next page; null at the end. */
  next: Id | null
}

/**
 * Returns contacts of the audience with an id greater than `after`, at most `limit`. Null starts from the
 * beginning.
 */
export function audienceMembers(
  db: Db,
  { id }: { id: Id },
  after: Id | null,
  limit: number,
): Promise<MemberPage> {
  return pageOf(db, everybodyOf(id), after, limit, CHUNK_CONTACTS)
}

/**
 * Returns contacts of a segment.
 *
 * @param now end of the periods in its filters, in ms since the epoch
 * @param size maximum number of contacts to scan
 */
export async function segmentMembers(
  db: Db,
  { audienceId, filters }: Pick<SegmentRow, 'audienceId' | 'filters'>,
  now: number,
  after: Id | null,
  limit: number,
  size = CHUNK_CONTACTS,
): Promise<MemberPage> {
  const membership = await membershipOf(db, audienceId, JSON.parse(filters) as SegmentFilter[], now)
  return pageOf(db, membership, after, limit, size)
}

/** Returns the segments of the audience that a contact of it matches now, newest first. */
export async function segmentsOf(
  db: Db,
  now: number,
  { audienceId, id }: Pick<ContactRow, 'audienceId' | 'id'>,
): Promise<SegmentRow[]> {
  const segments = await db
    .selectFrom('segments')
    .selectAll()
    .where('audienceId', '=', audienceId)
    .orderBy('id', 'desc')
    .execute()
  const alone = { from: idBefore(id), to: id }
  const matching: SegmentRow[] = []
  for (const segment of segments) {
    const filters = JSON.parse(segment.filters) as SegmentFilter[]
    const membership = await membershipOf(db, audienceId, filters, now)
    if (membership.isEmpty) continue
    if ((await memberChunks(db, membership, 'asc').ids(alone, 1, 0)).length > 0) matching.push(segment)
  }
  return matching
}

/**
 * Tells whether an audience or a segment has a subscribed member whose address is outside the given domains.
 * Scans in chunks, so that other queries run in between, and stops at the first such member.
 *
 * @param filters filters of the segment; null for the whole audience
 * @param size contacts per statement
 */
export async function hasMemberElsewhere(
  db: Db,
  now: number,
  { audienceId, filters }: { audienceId: Id; filters: SegmentRow['filters'] | null },
  domains: ReadonlySet<string>,
  size = CHUNK_CONTACTS,
): Promise<boolean> {
  const members =
    filters === null
      ? everybodyOf(audienceId)
      : await membershipOf(db, audienceId, JSON.parse(filters) as SegmentFilter[], now)
  if (members.isEmpty) return false
  const conditions: Condition[] = [
    ...members.conditions,
    { on: 'flag', flag: 0 },
    ...[...domains].map(domain => ({ on: 'elsewhere', domain: foldText(domain) }) as const),
  ]
  const chunks = memberChunks(db, { ...members, conditions }, 'asc', size)
  let from: Id | null = null
  for (;;) {
    const to: Id | undefined = await chunks.endOf(from)
    if ((await chunks.ids({ from, to }, 1, 0)).length > 0) return true
    if (!to) return false
    from = to
  }
}

/** Returns the contacts that are subscribed to a topic, explicitly or by its default. */
export async function subscribersOf(
  db: Db,
  { id, defaultSubscription }: Pick<TopicRow, 'id' | 'defaultSubscription'>,
  contactIds: readonly Id[],
): Promise<(contactId: Id) => boolean> {
  const choices = new Map<string, boolean>()
  if (contactIds.length > 0) {
    const rows = await db
      .selectFrom('contactTopics')
      .select(['contactId', 'subscribed'])
      .where('topicId', '=', id)
      .where('contactId', 'in', contactIds)
      .execute()
    for (const { contactId, subscribed } of rows) choices.set(idKey(contactId), subscribed === 1)
  }
  return contactId => choices.get(idKey(contactId)) ?? defaultSubscription === 'opt_in'
}

/** Scans exactly one chunk. */
async function pageOf(
  db: Db,
  membership: Membership,
  after: Id | null,
  limit: number,
  size: number,
): Promise<MemberPage> {
  if (membership.isEmpty) return { members: [], next: null }
  const chunks = memberChunks(db, membership, 'asc', size)
  const to = await chunks.endOf(after)
  const ids = await chunks.ids({ from: after, to }, limit, 0)
  const members = ids.length === 0 ? [] : await membersWith(db, membership.audienceId, ids)
  return { members, next: (ids.length === limit ? ids.at(-1) : to) ?? null }
}

function membersWith(db: Db, audienceId: Id, ids: readonly Id[]): Promise<Member[]> {
  return db
    .selectFrom('contacts')
    .select(COLUMNS)
    .where('audienceId', '=', audienceId)
    .where('id', 'in', ids)
    .orderBy('id')
    .execute()
}
