/**
 * Scans the members of an audience or a segment in chunks, so that no statement takes long and other queries
 * run in between.
 */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import type { Db, Schema } from '../../store/model/schema.ts'
import { type Membership, meeting } from './filters.ts'

/** Contacts after `from` up to and including `to`, in scan direction; null and undefined mean no bound. */
export interface MemberChunk {
  from: Id | null
  to: Id | undefined
}

/** Scan direction, by contact id. */
type Direction = 'asc' | 'desc'

/** Contacts per chunk. A chunk takes a few milliseconds. */
export const CHUNK_CONTACTS = 5_000

type Contacts = SelectQueryBuilder<Schema, 'contacts', object>

export function memberChunks(db: Db, membership: Membership, direction: Direction, size = CHUNK_CONTACTS) {
  const { audienceId, lead } = membership
  const id = sql.ref<Id>(lead ? 'lead.contactId' : 'contacts.id')
  const beyond = sql.raw(direction === 'asc' ? '>' : '<')
  const upTo = sql.raw(direction === 'asc' ? '<=' : '>=')

  /** Indexed property values that lead to the members, in the order of contact ids. */
  const values = () =>
    db
      .selectFrom('contactValues as lead')
      .where('lead.propertyId', '=', lead!.propertyId)
      .where('lead.foldedValue', '=', lead!.value)
  /** Candidate contacts, before the conditions are applied. */
  const looked = (): Contacts => {
    if (!lead) return db.selectFrom('contacts').where('contacts.audienceId', '=', audienceId)
    // a cross join makes SQLite read the values first and look up the contacts
    return values()
      .crossJoin('contacts')
      .where('contacts.audienceId', '=', audienceId)
      .whereRef('contacts.id', '=', 'lead.contactId') as unknown as Contacts
  }
  const within = <Q extends { where(expression: ReturnType<typeof sql<boolean>>): Q }>(
    query: Q,
    { from, to }: MemberChunk,
  ): Q => {
    const begun = from ? query.where(sql<boolean>`${id} ${beyond} ${from}`) : query
    return to ? begun.where(sql<boolean>`${id} ${upTo} ${to}`) : begun
  }

  return {
    /** The last contact of the chunk that begins after `from`; undefined for the last chunk. */
    async endOf(from: Id | null): Promise<Id | undefined> {
      const all = lead ? (values() as unknown as Contacts) : looked()
      const ids = within(all, { from, to: undefined }).select(id.as('id')).orderBy(id, direction)
      const last = ids.limit(1).offset(size - 1)
      return (await last.executeTakeFirst())?.id
    },
    async count(chunk: MemberChunk): Promise<number> {
      const all =
        lead && membership.conditions.length === 0
          ? (values() as unknown as Contacts)
          : looked().where(meeting(membership))
      const { count } = await within(all, chunk)
        .select(eb => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    /** Counts the members by the value of an expression over `contacts`. */
    async countBy(chunk: MemberChunk, value: RawBuilder<string>): Promise<[value: string, count: number][]> {
      const members = within(looked().where(meeting(membership)), chunk)
      const rows = await members
        .select(eb => [value.as('grouped'), eb.fn.countAll<number>().as('count')])
        .groupBy(sql`grouped`)
        .execute()
      return rows.map(({ grouped, count }) => [grouped, Number(count)])
    },
    /** Ids of members, in scan direction. */
    async ids(chunk: MemberChunk, limit: number, offset: number): Promise<Id[]> {
      const rows = await within(looked().where(meeting(membership)), chunk)
        .select(id.as('id'))
        .orderBy(id, direction)
        .limit(limit)
        .offset(offset)
        .execute()
      return rows.map(row => row.id)
    },
  }
}
