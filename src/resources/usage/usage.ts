/** Counts what an account has: contacts, audiences, broadcasts, domains, and emails received in a period. */
import type { Id } from '../../lib/ids.ts'
import { startOfUtcDay, startOfUtcMonth } from '../../lib/periods.ts'
import type { Db } from '../../store/model/schema.ts'
import { metricKind, periodOf, quarterOf } from '../events/metrics.ts'

export interface Holdings {
  /** Number of contacts in all audiences. An address in two audiences counts twice. */
  contactCount: number
  audienceCount: number
  broadcastCount: number
  domainCount: number
  receivedToday: number
  receivedThisMonth: number
}

/** @param now time in ms since the epoch; days and months are those of UTC */
export async function countHoldings(db: Db, accountId: Id, now: number): Promise<Holdings> {
  const { audienceCount, contactCount } = await db
    .selectFrom('audiences')
    .select(eb => [
      eb.fn.countAll<number>().as('audienceCount'),
      eb.fn.sum<number | null>('contactCount').as('contactCount'),
    ])
    .where('accountId', '=', accountId)
    .executeTakeFirstOrThrow()
  const countOf = async (table: 'broadcasts' | 'domains') => {
    const { count } = await db
      .selectFrom(table)
      .select(eb => eb.fn.countAll<number>().as('count'))
      .where('accountId', '=', accountId)
      .executeTakeFirstOrThrow()
    return Number(count)
  }
  return {
    contactCount: Number(contactCount),
    audienceCount: Number(audienceCount),
    broadcastCount: await countOf('broadcasts'),
    domainCount: await countOf('domains'),
    receivedToday: await receivedSince(db, accountId, startOfUtcDay(now)),
    receivedThisMonth: await receivedSince(db, accountId, startOfUtcMonth(now)),
  }
}

async function receivedSince(db: Db, accountId: Id, since: number): Promise<number> {
  const { received } = await db
    .selectFrom('counters')
    .select(eb => eb.fn.sum<number | null>('count').as('received'))
    .where('accountId', '=', accountId)
    .where('kind', '=', metricKind('received', null, null))
    .where('period', '>=', periodOf(quarterOf(since)))
    .executeTakeFirstOrThrow()
  return Number(received)
}
