/**
 * Scans the members of an audience or a segment in chunks, so that no statement takes long and other queries
 * run in between.
 */
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import type { Db, Schema } from '../../store/schema.ts'
import { type Membership, meeting } from './filters.ts'

/** Contacts beyond `from` up to `to`, in the direction of the walk; null and undefined leave it open. */
export interface MemberChunk {
  from: Id | null
  to: Id | undefined
}

/** By id. */
export type Direction = 'asc' | 'desc'

/** Contacts of which one chunk consists: a few ms. */
export const CHUNK_CONTACTS = 5_000

type Contacts = SelectQueryBuilder<Schema, 'contacts', object>

export function memberChunks(db: Db, membership: Membership, direction: Direction, size = CHUNK_CONTACTS) {
  const { audienceId, lead } = membership
  const id = sql.ref<Id>(lead ? 'lead.contactId' : 'contacts.id')
  const beyond = sql.raw(direction === 'asc' ? '>' : '<')
  const upTo = sql.raw(direction === 'asc' ? '<=' : '>=')

  /** The values that lead to members: they are in the order of the contacts' ids. */
  const values = () =>
    db
      .selectFrom('contactValues as lead')
      .where('lead.propertyId', '=', lead!.propertyId)
      .where('lead.foldedValue', '=', lead!.value)
  /** All that are looked at; the conditions are still to be asked. */
  const looked = (): Contacts => {
    if (!lead) return db.selectFrom('contacts').where('contacts.audienceId', '=', audienceId)
    // a cross join, so that SQLite goes from the values to the contacts
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
    /** The last contact of the chunk that begins after one; undefined when it is the last chunk. */
    async endOf(from: Id | null): Promise<Id | undefined> {
      const all = lead ? (values() as unknown as Contacts) : looked()
      const ids = within(all, { from, to: undefined }).select(id.as('id')).orderBy(id, direction)
      return (
        await ids
          .limit(1)
          .offset(size - 1)
          .executeTakeFirst()
      )?.id
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
    /** Ids of members, in the direction of the walk. */
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
