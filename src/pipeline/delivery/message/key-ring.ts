/** Cache of decrypted signing keys, with the TLS setting of each domain. Entries last one minute. */

import type { Clock } from '../../../lib/clock.ts'
import { createExpiringMap, keepUnlessFailed } from '../../../lib/expiring-map.ts'
import { type Id, idKey, wireId } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { loadSigningKey, type SigningKey } from '../../../protocols/dkim/keys.ts'
import { findDomainTls, findSigningKeys } from '../../../resources/domains/domain-rows.ts'
import { dkimContext } from '../../../resources/domains/domains.ts'
import type { Db, DomainRow } from '../../../store/model/schema.ts'

export type RingKey = SigningKey & { keyId: string }

export interface SigningDomain {
  keys: readonly RingKey[]
  tls: DomainRow['tls']
}

export interface KeyRing {
  /** Undefined when the domain has no signing key, because it has been deleted. */
  keysOf(domainId: Id, domain: string): Promise<SigningDomain | undefined>
  /** Removes the keys of a domain from the cache; those of all domains when none is named. */
  forget(domainId?: Id): void
}

const CACHE_TTL_MS = 60_000
const CACHED_DOMAINS_MAX = 1_000

export function createKeyRing({
  db,
  secrets,
  clock,
}: {
  db: Db
  secrets: SecretKeys
  clock: Clock
}): KeyRing {
  const cache = createExpiringMap<Promise<SigningDomain | undefined>>(clock, {
    ttlMs: CACHE_TTL_MS,
    maxEntries: CACHED_DOMAINS_MAX,
  })

  const load = async (domainId: Id, domain: string): Promise<SigningDomain | undefined> => {
    const [rows, tls] = await Promise.all([findSigningKeys(db, domainId), findDomainTls(db, domainId)])
    if (rows.length === 0 || tls === undefined) return undefined
    const keys = rows.map(({ id, token, algorithm, privateKey }) => ({
      keyId: wireId('key', id),
      ...loadSigningKey({ domain, selector: token, algorithm }, secrets.open(privateKey, dkimContext(token))),
    }))
    return { keys, tls }
  }

  return {
    keysOf(domainId, domain) {
      const key = idKey(domainId)
      return cache.get(key) ?? keepUnlessFailed(cache, key, load(domainId, domain))
    },
    forget(domainId) {
      if (domainId === undefined) cache.clear()
      else cache.delete(idKey(domainId))
    },
  }
}
