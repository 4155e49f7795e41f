/** Caches the routes of received mail by account. The routing of each received message asks for them. */
import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap, keepUnlessFailed } from '../../lib/expiring-map.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import { listInboundRoutes } from '../../resources/emails/inbound-routes.ts'
import type { InboundRouteRow } from '../../store/model/schema/inbound.ts'
import type { Db } from '../../store/model/schema.ts'

export interface AccountRoutes {
  /** Returns the routes of an account in their order. @throws if the store is unavailable */
  of(accountId: Id): Promise<readonly InboundRouteRow[]>
  /** Drops the routes of these accounts, or all. */
  forget(accountIds?: readonly Id[]): void
}

/** Maximum age of an entry, which bounds the delay if an announcement is lost. */
const CACHE_TTL_MS = 10_000
const CACHED_ACCOUNTS_MAX = 20_000

export function createAccountRoutes({ db, clock }: { db: Db; clock: Clock }): AccountRoutes {
  const cache = createExpiringMap<Promise<InboundRouteRow[]>>(clock, {
    ttlMs: CACHE_TTL_MS,
    maxEntries: CACHED_ACCOUNTS_MAX,
  })
  return {
    of(accountId) {
      const key = idKey(accountId)
      return cache.get(key) ?? keepUnlessFailed(cache, key, listInboundRoutes(db, accountId))
    },
    forget(accountIds) {
      if (accountIds === undefined) cache.clear()
      else for (const id of accountIds) cache.delete(idKey(id))
    },
  }
}
