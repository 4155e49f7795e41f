/** Received mail of an account, listed and searched newest first. */
import { sql } from 'kysely'
import { type Id, idKey, lastIdAt } from '../../lib/ids.ts'
import type { ListPage } from '../list-page.ts'
import { containing } from '../pattern.ts'
import type { Find } from '../read.ts'
import type { InboundMessageRow } from '../schema/inbound.ts'
import type { Db } from '../schema.ts'
import { type Direction, type Stretch, type Walk, walkList } from '../stretches.ts'

/** What narrows the list down. */
export interface InboundFilter {
  /** Part of the subject, folded, every character literal; empty for any. */
  search: string
  /** The only domain whose mail is looked at; null for all. */
  domain: string | null
}

export interface InboundFound<C extends keyof InboundMessageRow> {
  /** Of the whole list, as narrowed down. */
  total: number
  hasMore: boolean
  /** Newest first. */
  rows: Pick<InboundMessageRow, C>[]
}

/** What an account has of listed messages is counted by this. */
export const INBOUND_COUNTER = 'inbound'

/** @param horizon epoch ms; what was received then or before is out of sight */
export async function listInbound<C extends keyof InboundMessageRow>(
  { db, find }: { db: Db; find: Find },
  { accountId, horizon }: { accountId: Id; horizon: number },
  filter: InboundFilter,
  page: ListPage,
  columns: readonly C[],
): Promise<InboundFound<C>> {
  const isCounted = filter.search === '' && filter.domain === null
  const oldest = lastIdAt(horizon)
  const walkOf = (direction: Direction) => walkOver(db, accountId, oldest, filter, direction)
  const { keys, matched, hasMore } = await walkList(walkOf, page, isCounted)
  const rows = await find(
    'inboundMessages',
    keys.map(id => ({ accountId, id })),
    columns,
  )
  return {
    total: isCounted ? await countInSight(db, accountId, oldest) : matched,
    hasMore,
    rows: rows.filter(row => row !== undefined),
  }
}

/** What is out of sight is about to be deleted, and little. */
async function countInSight(db: Db, accountId: Id, oldest: Id): Promise<number> {
  const all = await db
    .selectFrom('counters')
    .select('count')
    .where('accountId', '=', accountId)
    .where('kind', '=', INBOUND_COUNTER)
    .where('period', '=', '')
    .executeTakeFirst()
  const { count } = await db
    .selectFrom('inboundSubjects')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .where('id', '<=', oldest)
    .executeTakeFirstOrThrow()
  return Math.max(0, (all?.count ?? 0) - Number(count))
}

function walkOver(
  db: Db,
  accountId: Id,
  oldest: Id,
  { search, domain }: InboundFilter,
  direction: Direction,
): Walk<Id> {
  const beyond = direction === 'desc' ? '<' : '>'
  const upTo = direction === 'desc' ? '>=' : '<='
  const within = ({ from, to }: Stretch) => {
    let entries = db.selectFrom('inboundSubjects').where('accountId', '=', accountId).where('id', '>', oldest)
    if (from) entries = entries.where('id', beyond, from)
    return to ? entries.where('id', upTo, to) : entries
  }
  const matching = (stretch: Stretch) => {
    let entries = within(stretch)
    if (domain !== null)
      entries = entries.where(sql<boolean>`domains like ${containing(` ${domain} `)} escape '!'`)
    return search === ''
      ? entries
      : entries.where(sql<boolean>`subject like ${containing(search)} escape '!'`)
  }
  return {
    async endOf(stretch, length) {
      const entries = within(stretch).select('id').orderBy('id', direction)
      return (
        await entries
          .limit(1)
          .offset(length - 1)
          .executeTakeFirst()
      )?.id
    },
    async count(stretch) {
      const entries = matching(stretch).select(eb => eb.fn.countAll<number>().as('count'))
      return Number((await entries.executeTakeFirstOrThrow()).count)
    },
    async read(stretch, cursor, limit, offset) {
      let entries = matching(stretch).select('id').orderBy('id', direction)
      if (cursor) entries = entries.where('id', beyond, cursor)
      return (await entries.limit(limit).offset(offset).execute()).map(({ id }) => id)
    },
  }
}

/** Whether a message of the account is listed, in its sight, and for the domain, where only one counts. */
export function isInSight(
  row: Pick<InboundMessageRow, 'id' | 'listedAt' | 'recipients'>,
  { horizon, domain }: { horizon: number; domain: string | null },
): boolean {
  if (row.listedAt === null || idKey(row.id) <= idKey(lastIdAt(horizon))) return false
  if (domain === null) return true
  return (JSON.parse(row.recipients) as string[]).some(address => address.endsWith(`@${domain}`))
}
