/** Finds the queue keys that have waiting deliveries, by stepping over the index of due deliveries. */
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { QueueKey } from '../../store/command.ts'
import { type Db, DELIVERY_CLASS } from '../../store/schema.ts'

/** A queue key and when its first delivery is due. */
export interface DueQueueKey extends QueueKey {
  at: number
}

/** All of them. */
export async function listDueQueueKeys(db: Db): Promise<DueQueueKey[]> {
  return Array.fromAsync(stepDueQueueKeys(db, null))
}

/**
 * One index step a queue key, however many deliveries it holds. @param domain the only one to look at, where
 * it is given
 */
export async function* stepDueQueueKeys(db: Db, domain: string | null): AsyncGenerator<DueQueueKey> {
  const ofDomain = domain === null ? sql`` : sql`and domain = ${domain}`
  for (let last: DueQueueKey | undefined; ; ) {
    const after = last
      ? sql`and (domain, class, account_id) > (${last.domain}, ${last.class}, ${last.accountId})`
      : sql``
    const { rows } = await sql<DueQueueKey>`
      select domain, class, account_id, next_at as at from deliveries
      where state = 0 ${ofDomain} ${after} order by domain, class, account_id, next_at limit 1`.execute(db)
    last = rows[0]
    if (!last) return
    yield last
  }
}

/** Domains of a site looked at in one go; others have their turn in between. */
const DOMAINS_PER_STEP_MAX = 500

/**
 * The queue keys of deferred mail that goes to the site, as far as mail of their domains went there last.
 * @param domain that goes there for sure
 */
export async function* stepDeferredQueueKeys(db: Db, site: string, domain: string): AsyncGenerator<QueueKey> {
  yield* deferredQueueKeysOf(db, domain)
  for (let after = '', more = true; more; await turn()) {
    const some = await db
      .selectFrom('domainSites')
      .select('domain')
      .where('site', '=', site)
      .where('domain', '>', after)
      .orderBy('domain')
      .limit(DOMAINS_PER_STEP_MAX)
      .execute()
    const domains = some.map(row => row.domain).filter(name => name !== domain)
    for (const name of await withDeferred(db, domains)) yield* deferredQueueKeysOf(db, name)
    after = some.at(-1)?.domain ?? after
    more = some.length === DOMAINS_PER_STEP_MAX
  }
}

async function* deferredQueueKeysOf(db: Db, domain: string): AsyncGenerator<QueueKey> {
  for await (const { at: _, ...queueKey } of stepDueQueueKeys(db, domain))
    if (queueKey.class === DELIVERY_CLASS.retry) yield queueKey
}

async function withDeferred(db: Db, domains: readonly string[]): Promise<string[]> {
  if (domains.length === 0) return []
  const { rows } = await sql<{ domain: string }>`
    select distinct domain from deliveries
    where state = 0 and class = ${DELIVERY_CLASS.retry} and domain in (${sql.join(domains)})`.execute(db)
  return rows.map(row => row.domain)
}
