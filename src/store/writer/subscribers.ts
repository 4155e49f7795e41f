/**
 * Cache of webhook subscriptions by account, for groups of commands. Each change of a webhook starts a new
 * edition, which every group compares at its begin.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import type { RowOps } from '../row-ops.ts'
import type { Db } from '../schema.ts'

/** A webhook that is to be told of these types. */
interface Subscriber {
  webhookId: Id
  types: ReadonlySet<string>
}

export type SubscribersOf = (accountId: Id) => readonly Subscriber[]

export interface SubscriberCache {
  /** A group begins. @param edition as its transaction sees it; null before there was any */
  begin(edition: string | null): void
  /** What was looked up may be of a change that is undone. */
  forget(): void
  of(db: Db, accountIds: readonly Id[]): Promise<SubscribersOf>
}

/** Key of the setting that holds the edition. */
export const WEBHOOKS_EDITION = 'webhooks.edition'
/** Accounts known at once. */
const ACCOUNTS_MAX = 50_000
/** Looked up by one statement. */
const ACCOUNTS_AT_ONCE = 500
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
  for (let at = 0; at < ids.length; at += ACCOUNTS_AT_ONCE) {
    const rows = await db
      .selectFrom('webhooks')
      .select(['id', 'accountId', 'events'])
      .where('accountId', 'in', ids.slice(at, at + ACCOUNTS_AT_ONCE))
      .where('enabled', '=', 1)
      .execute()
    for (const id of ids.slice(at, at + ACCOUNTS_AT_ONCE)) known.set(idKey(id), [])
    for (const { id, accountId, events } of rows)
      known.get(idKey(accountId))!.push({ webhookId: id, types: new Set(JSON.parse(events) as string[]) })
  }
}

/** Part of a command that changes what webhooks are told of. */
export async function writeEdition(rows: RowOps, edition: string): Promise<void> {
  const [former] = await rows.lock('settings', [{ key: WEBHOOKS_EDITION }], ['value'])
  const row = { key: WEBHOOKS_EDITION, value: edition }
  if (former) await rows.update('settings', ['key'], [row])
  else await rows.insert('settings', [row])
}
