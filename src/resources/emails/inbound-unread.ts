/** Marks of unread received mail, which the users of an account share. */
import { sql } from 'kysely'
import { firstIdAt, type Id } from '../../lib/ids.ts'
import { command } from '../../store/model/command.ts'
import type { Db, Flag } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'

/** Limit of the count of unread messages, so that it is quick however many there are. */
const COUNTED_MAX = 999

interface SetUnread {
  accountId: Id
  /** Each id once. */
  ids: readonly Id[]
  unread: Flag
}

export const inboundUnreadCommands = {
  /** @returns ids of the messages that exist and have been listed */
  setInboundUnread: command<SetUnread, Id[]>(
    async (tx, { accountId, ids, unread }) => {
      const keys = ids.map(id => ({ accountId, id }))
      const found = await tx.rows.lock('inboundSubjects', keys, ['id'])
      const known = found.flatMap(row => (row ? [row.id] : []))
      const marked = known.map(id => ({ accountId, id, unread }))
      await tx.rows.update('inboundSubjects', ['accountId', 'id'], marked)
      return known
    },
    { weigh: ({ ids }) => ids.length },
  ),
}

/** Tells whether each of the messages is unread. */
export async function areUnread(find: Find, accountId: Id, ids: readonly Id[]): Promise<boolean[]> {
  const keys = ids.map(id => ({ accountId, id }))
  return (await find('inboundSubjects', keys, ['unread'])).map(row => row?.unread === 1)
}

/**
 * Counts the unread messages of an account, up to a limit.
 *
 * @param horizon epoch ms; messages received at or before it are not counted
 */
export async function countUnread(
  db: Db,
  { accountId, horizon }: { accountId: Id; horizon: number },
): Promise<{ count: number; hasMore: boolean }> {
  const some = db
    .selectFrom('inboundSubjects')
    .select('id')
    .where('accountId', '=', accountId)
    .where(isUnread)
    .where('id', '>=', firstIdAt(horizon + 1))
    .limit(COUNTED_MAX + 1)
  const { count } = await db
    .selectFrom(some.as('some'))
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return { count: Math.min(Number(count), COUNTED_MAX), hasMore: Number(count) > COUNTED_MAX }
}

/** Condition of unread messages. It is a literal, so that the databases can use their index of them. */
export const isUnread = sql<boolean>`unread = 1`
