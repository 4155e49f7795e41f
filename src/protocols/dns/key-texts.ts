/** Cache of DKIM key records. It protects the store from a flood of queries. */
import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap } from '../../lib/expiring-map.ts'

interface KeyTexts {
  /** Returns a cached text synchronously. The text is undefined if the key does not exist. */
  textOf(token: string): string | undefined | Promise<string | undefined>
  /** Empties the cache after keys have changed. */
  forget(): void
}

interface KeyTextsOptions {
  find(token: string): Promise<string | undefined>
  clock: Clock
}

/** Other processes may change keys without notifying this one. */
const CACHE_TTL_MS = 10_000
const CACHED_KEYS_MAX = 20_000
/** Form of a key token. Other labels are not looked up. */
const TOKEN = /^[a-z2-7]{32}$/

export function createKeyTexts({ find, clock }: KeyTextsOptions): KeyTexts {
  const cache = createExpiringMap<{ text: string | undefined }>(clock, {
    ttlMs: CACHE_TTL_MS,
    maxEntries: CACHED_KEYS_MAX,
  })
  let generation = 0

  const load = async (token: string) => {
    const began = generation
    const text = await find(token)
    if (began === generation) cache.set(token, { text })
    return text
  }

  return {
    textOf(token) {
      if (!TOKEN.test(token)) return undefined
      const known = cache.get(token)
      return known ? known.text : load(token)
    },
    forget() {
      generation++
      cache.clear()
    },
  }
}
