/** Caches which domains receive mail here. The inbound listener asks for every recipient. */
import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap, keepUnlessFailed } from '../../lib/expiring-map.ts'
import type { Db } from '../../store/model/schema.ts'
import { findHostedDomain, type HostedDomain } from './domain-rows.ts'

export interface HostedDomains {
  /**
   * @param name lower-case A-labels
   * @throws if the store is unavailable
   */
  find(name: string): Promise<HostedDomain | undefined>
  /** Drops cached entries of these names, or all. */
  forget(names?: readonly string[]): void
}

/** Maximum age of an entry, which bounds the delay if an announcement is lost. */
const CACHE_TTL_MS = 10_000
/** Bounds the memory, because remote senders choose the names. */
const CACHED_DOMAINS_MAX = 20_000

export function createHostedDomains({ db, clock }: { db: Db; clock: Clock }): HostedDomains {
  const cache = createExpiringMap<Promise<HostedDomain | undefined>>(clock, {
    ttlMs: CACHE_TTL_MS,
    maxEntries: CACHED_DOMAINS_MAX,
  })
  return {
    find: name => cache.get(name) ?? keepUnlessFailed(cache, name, findHostedDomain(db, name)),
    forget(names) {
      if (names === undefined) cache.clear()
      else for (const name of names) cache.delete(name)
    },
  }
}
