/** The signing keys of domains, opened once and kept for a minute. */
import { loadSigningKey, type SigningKey } from '../dkim/keys.ts'
import { dkimContext } from '../domains/domains.ts'
import type { Clock } from '../lib/clock.ts'
import { type Id, idKey, wireId } from '../lib/ids.ts'
import type { SecretKeys } from '../lib/secret-keys.ts'
import { findSigningKeys } from '../store/domains.ts'
import type { Db } from '../store/schema.ts'

export type RingKey = SigningKey & { keyId: string }

export interface KeyRing {
  /** Undefined when the domain has no key that signs: it has been deleted. */
  keysOf(domainId: Id, domain: string): Promise<readonly RingKey[] | undefined>
}

const KEPT_MS = 60_000
const MOST_KEPT = 1_000

export function createKeyRing({
  db,
  secrets,
  clock,
}: {
  db: Db
  secrets: SecretKeys
  clock: Clock
}): KeyRing {
  const kept = new Map<string, { keys: Promise<readonly RingKey[] | undefined>; until: number }>()

  const load = async (domainId: Id, domain: string): Promise<readonly RingKey[] | undefined> => {
    const rows = await findSigningKeys(db, domainId)
    if (rows.length === 0) return undefined
    return rows.map(({ id, token, algorithm, privateKey }) => ({
      keyId: wireId('key', id),
      ...loadSigningKey({ domain, selector: token, algorithm }, secrets.open(privateKey, dkimContext(token))),
    }))
  }

  return {
    keysOf(domainId, domain) {
      const key = idKey(domainId)
      const known = kept.get(key)
      if (known && known.until > clock.monotonic()) return known.keys
      const keys = load(domainId, domain)
      if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!)
      kept.set(key, { keys, until: clock.monotonic() + KEPT_MS })
      keys.catch(() => kept.delete(key))
      return keys
    },
  }
}
