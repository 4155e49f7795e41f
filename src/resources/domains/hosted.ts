/** Which domains' mail is taken here: asked for every recipient, and so remembered until it changes. */
import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap, keepUnlessFailed } from '../../lib/expiring-map.ts'
import type { Db } from '../../store/schema.ts'
import { findHostedDomain, type HostedDomain } from './domain-rows.ts'

export interface HostedDomains {
  /** @param name lower-case A-labels @throws when the store cannot be asked */
  find(name: string): Promise<HostedDomain | undefined>
  /** What was known of these names, or of all, is asked for anew. */
  forget(names?: readonly string[]): void
}

/** Where changes may be missed, they are known after so long. */
const KEPT_MS = 10_000
/** Names come from whoever writes to us. */
const KEPT_MAX = 20_000

export function createHostedDomains({ db, clock }: { db: Db; clock: Clock }): HostedDomains {
  const kept = createExpiringMap<Promise<HostedDomain | undefined>>(clock, {
    keptMs: KEPT_MS,
    most: KEPT_MAX,
  })
  return {
    find: name => kept.get(name) ?? keepUnlessFailed(kept, name, findHostedDomain(db, name)),
    forget(names) {
      if (names === undefined) kept.clear()
      else for (const name of names) kept.delete(name)
    },
  }
}
