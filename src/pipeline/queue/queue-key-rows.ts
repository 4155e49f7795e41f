/** Finds the queue keys that have waiting deliveries. Each costs one step in the index of due deliveries. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { sql } from 'kysely'
import type { QueueKey } from '../../store/model/command.ts'
import { type Db, DELIVERY_CLASS } from '../../store/model/schema.ts'

/** A queue key with the time at which its first delivery is due, in ms since the epoch. */
export interface DueQueueKey extends QueueKey {
  at: number
}

export async function listDueQueueKeys(db: Db): Promise<DueQueueKey[]> {
  return Array.fromAsync(stepDueQueueKeys(db, null))
}

/**
 * Yields queue keys in order. A queue key costs one index step, however many deliveries it holds.
 * @param domain restricts the search; null for all domains
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

/** Domains that are read at once. The event loop runs between two reads. */
const DOMAINS_PER_STEP_MAX = 500

/**
 * Yields the queue keys of deferred mail to the destination: those of `domain`, and those of all domains
 * whose mail last went to the destination.
 */
export async function* stepDeferredQueueKeys(
  db: Db,
  destination: string,
  domain: string,
): AsyncGenerator<QueueKey> {
  yield* deferredQueueKeysOf(db, domain)
  for (let after = '', more = true; more; await yieldToEventLoop()) {
    const batch = await db
      .selectFrom('domainDestinations')
      .select('domain')
      .where('destination', '=', destination)
      .where('domain', '>', after)
      .orderBy('domain')
      .limit(DOMAINS_PER_STEP_MAX)
      .execute()
    const domains = batch.map(row => row.domain).filter(name => name !== domain)
    for (const name of await withDeferred(db, domains)) yield* deferredQueueKeysOf(db, name)
    after = batch.at(-1)?.domain ?? after
    more = batch.length === DOMAINS_PER_STEP_MAX
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
