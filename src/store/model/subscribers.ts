/**
 * Cache of webhook subscriptions by account, for groups of commands. Each change of a webhook starts a new
 * edition, which every group compares at its begin.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import type { RowOps } from './row-ops.ts'
import type { Db } from './schema.ts'

/** Webhook that receives events of these types. */
export interface Subscriber {
  webhookId: Id
  types: ReadonlySet<string>
  /** Ids (as text) of the domains to whose events the webhook is limited; null without a limit. */
  domains: ReadonlySet<string> | null
}

export type SubscribersOf = (accountId: Id) => readonly Subscriber[]

export interface SubscriberCache {
  /**
   * Starts a group.
   * @param edition the edition that its transaction sees; null when there is none yet
   */
  begin(edition: string | null): void
  /** Drops the cache, because it may contain a change that was undone. */
  forget(): void
  of(db: Db, accountIds: readonly Id[]): Promise<SubscribersOf>
}

/** Key of the setting that holds the edition. */
export const WEBHOOKS_EDITION = 'webhooks.edition'
/** Maximum number of accounts in the cache. */
const ACCOUNTS_MAX = 50_000
/** Number of accounts that one query looks up. */
const ACCOUNTS_PER_QUERY = 500
const NOBODY: readonly Subscriber[] = []

export function createSubscriberCache(): SubscriberCache {
  const known = new Map<string, Subscriber[]>()
  let present: string | null | undefined

  return {
    begin(edition) {
      if (edition !== present) known.clear()
      present = edition
    },
    forget() {
      known.clear()
      present = undefined
    },
    async of(db, accountIds) {
      if (known.size > ACCOUNTS_MAX) known.clear()
      const unknown = new Map<string, Id>()
      for (const id of accountIds) {
        const key = idKey(id)
        if (!known.has(key)) unknown.set(key, id)
      }
      if (unknown.size > 0) await lookUp(db, known, unknown)
      return accountId => known.get(idKey(accountId)) ?? NOBODY
    },
  }
}

async function lookUp(db: Db, known: Map<string, Subscriber[]>, accounts: ReadonlyMap<string, Id>) {
  const ids = [...accounts.values()]
  for (let at = 0; at < ids.length; at += ACCOUNTS_PER_QUERY) {
    const rows = await db
      .selectFrom('webhooks')
      .select(['id', 'accountId', 'events', 'domainIds'])
      .where('accountId', 'in', ids.slice(at, at + ACCOUNTS_PER_QUERY))
      .where('enabled', '=', 1)
      .execute()
    for (const id of ids.slice(at, at + ACCOUNTS_PER_QUERY)) known.set(idKey(id), [])
    for (const { id, accountId, events, domainIds } of rows)
      known.get(idKey(accountId))!.push({
        webhookId: id,
        types: new Set(JSON.parse(events) as string[]),
        domains: domainIds === null ? null : new Set(JSON.parse(domainIds) as string[]),
      })
  }
}

/** Writes a new edition. Every command that changes subscriptions of webhooks calls this. */
export async function writeEdition(rows: RowOps, edition: string): Promise<void> {
  const [former] = await rows.lock('settings', [{ key: WEBHOOKS_EDITION }], ['value'])
  const row = { key: WEBHOOKS_EDITION, value: edition }
  if (former) await rows.update('settings', ['key'], [row])
  else await rows.insert('settings', [row])
}
