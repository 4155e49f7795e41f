/**
 * Who belongs to an audience or a segment, a page at a time in the order of the contacts' ids: what broadcasts are sent
 * by. Membership is what it is at the moment of each page.
 */
import { type Id, idKey } from '../lib/ids.ts'
import type { ContactRow, Db, SegmentRow, TopicRow } from '../store/schema.ts'
import { everybodyOf, type Filter, type Membership, meeting, membershipOf } from './filters.ts'

const COLUMNS = [
  'contacts.id',
  'contacts.email',
  'contacts.firstName',
  'contacts.lastName',
  'contacts.unsubscribed',
  'contacts.properties',
] as const

/** `unsubscribed` is shown, not heeded: who gets no broadcast is for the caller to leave out. */
export type Member = Pick<
  ContactRow,
  'id' | 'email' | 'firstName' | 'lastName' | 'unsubscribed' | 'properties'
>

export interface MemberPage {
  /** By id, ascending; there may be none although more follow. */
  members: Member[]
  /** To be given as `after` for what follows; null at the end. */
  next: Id | null
}

/** Contacts of which one page looks through no more: so long a statement takes at most, a few ms. */
const STRETCH = 5_000

/** Contacts of the audience with an id greater than `after`, at most `limit`. Null begins. */
export function audienceMembers(
  db: Db,
  { id }: { id: Id },
  after: Id | null,
  limit: number,
): Promise<MemberPage> {
  return pageOf(db, everybodyOf(id), after, limit)
}

/** The same of a segment: contacts of its audience for which all its filters hold now. */
export async function segmentMembers(
  db: Db,
  { audienceId, filters }: Pick<SegmentRow, 'audienceId' | 'filters'>,
  after: Id | null,
  limit: number,
): Promise<MemberPage> {
  return pageOf(db, await membershipOf(db, audienceId, JSON.parse(filters) as Filter[]), after, limit)
}

/** Which of these contacts get what is sent about a topic, by what they have said or by its default. */
export async function subscribersOf(
  db: Db,
  { id, defaultSubscription }: Pick<TopicRow, 'id' | 'defaultSubscription'>,
  contactIds: readonly Id[],
): Promise<(contactId: Id) => boolean> {
  const said = new Map<string, boolean>()
  if (contactIds.length > 0) {
    const rows = await db
      .selectFrom('contactTopics')
      .select(['contactId', 'subscribed'])
      .where('topicId', '=', id)
      .where('contactId', 'in', contactIds)
      .execute()
    for (const { contactId, subscribed } of rows) said.set(idKey(contactId), subscribed === 1)
  }
  return contactId => said.get(idKey(contactId)) ?? defaultSubscription === 'opt_in'
}

async function pageOf(db: Db, membership: Membership, after: Id | null, limit: number): Promise<MemberPage> {
  if (membership.isEmpty) return { members: [], next: null }
  const end = await endOfStretch(db, membership, after)
  const members = await membersWithin(db, membership, after, end, limit)
  const next = members.length === limit ? members.at(-1)!.id : end
  return { members, next: next ?? null }
}

/** The last contact of the stretch that begins after one; undefined when it is the last stretch. */
async function endOfStretch(db: Db, { audienceId, lead }: Membership, after: Id | null) {
  if (lead) {
    let values = db
      .selectFrom('contactValues')
      .select('contactId as id')
      .where('propertyId', '=', lead.propertyId)
      .where('foldedValue', '=', lead.value)
    if (after) values = values.where('contactId', '>', after)
    return (
      await values
        .orderBy('contactId')
        .limit(1)
        .offset(STRETCH - 1)
        .executeTakeFirst()
    )?.id
  }
  let contacts = db.selectFrom('contacts').select('id').where('audienceId', '=', audienceId)
  if (after) contacts = contacts.where('id', '>', after)
  return (
    await contacts
      .orderBy('id')
      .limit(1)
      .offset(STRETCH - 1)
      .executeTakeFirst()
  )?.id
}

function membersWithin(
  db: Db,
  membership: Membership,
  after: Id | null,
  end: Id | undefined,
  limit: number,
): Promise<Member[]> {
  const { audienceId, lead } = membership
  if (!lead) {
    let contacts = db.selectFrom('contacts').select(COLUMNS).where('contacts.audienceId', '=', audienceId)
    if (after) contacts = contacts.where('contacts.id', '>', after)
    if (end) contacts = contacts.where('contacts.id', '<=', end)
    return contacts.where(meeting(membership)).orderBy('contacts.id').limit(limit).execute()
  }
  // a cross join, so that SQLite goes from the values to the contacts
  let led = db
    .selectFrom('contactValues as lead')
    .crossJoin('contacts')
    .select(COLUMNS)
    .where('lead.propertyId', '=', lead.propertyId)
    .where('lead.foldedValue', '=', lead.value)
    .where('contacts.audienceId', '=', audienceId)
    .whereRef('contacts.id', '=', 'lead.contactId')
  if (after) led = led.where('lead.contactId', '>', after)
  if (end) led = led.where('lead.contactId', '<=', end)
  return led.where(meeting(membership)).orderBy('lead.contactId').limit(limit).execute()
}
