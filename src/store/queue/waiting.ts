/** What stands in the queue, by domain: for the operator's eyes, since it looks at every waiting delivery. */
import { sql } from 'kysely'
import { type Id, idTime } from '../../lib/ids.ts'
import { type Db, DELIVERY_CLASS, DELIVERY_STATE } from '../schema.ts'

export interface WaitingDomain {
  domain: string
  /** Never tried yet. */
  freshCount: number
  /** Tried before, to be tried again. */
  deferredCount: number
  /** Being attempted. */
  leasedCount: number
  /** When the oldest email among them was accepted, epoch ms. */
  oldestAt: number
  /** When the next one is due; null while all are being attempted. */
  nextAt: number | null
}

/** Domains with the most deliveries first. */
export async function listWaitingDomains(db: Db): Promise<WaitingDomain[]> {
  const groups = await db
    .selectFrom('deliveries')
    .select(['domain', 'state', 'class'])
    .select(eb => [
      eb.fn.countAll<number>().as('count'),
      sql<Id>`min(email_id)`.as('oldestId'),
      eb.fn.min('nextAt').as('nextAt'),
    ])
    .where('state', 'in', [DELIVERY_STATE.waiting, DELIVERY_STATE.leased])
    .groupBy(['domain', 'state', 'class'])
    .execute()
  const domains = new Map<string, WaitingDomain>()
  for (const { domain, state, class: lane, count, oldestId, nextAt } of groups) {
    const known = domains.get(domain) ?? emptyDomain(domain)
    domains.set(domain, known)
    known.oldestAt = Math.min(known.oldestAt, idTime(oldestId))
    if (state === DELIVERY_STATE.leased) known.leasedCount += Number(count)
    else {
      known.nextAt = Math.min(known.nextAt ?? Number.POSITIVE_INFINITY, nextAt)
      if (lane === DELIVERY_CLASS.retry) known.deferredCount += Number(count)
      else known.freshCount += Number(count)
    }
  }
  return [...domains.values()].sort((a, b) => totalOf(b) - totalOf(a) || (a.domain < b.domain ? -1 : 1))
}

/**
 * What the deferred delivery of the domain that is due first was told; undefined when none is deferred.
 * @param accountId the only one whose deliveries count, which spares a look at all of them; that of any when absent
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

function emptyDomain(domain: string): WaitingDomain {
  const counts = { freshCount: 0, deferredCount: 0, leasedCount: 0 }
  return { domain, ...counts, oldestAt: Number.POSITIVE_INFINITY, nextAt: null }
}

function totalOf({ freshCount, deferredCount, leasedCount }: WaitingDomain): number {
  return freshCount + deferredCount + leasedCount
}
