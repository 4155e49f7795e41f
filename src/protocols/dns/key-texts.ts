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
const KEPT_MS = 10_000
const CACHED_KEYS_MAX = 20_000
/** Form of a key token. Other labels are not looked up. */
const TOKEN = /^[a-z2-7]{32}$/

export function createKeyTexts({ find, clock }: KeyTextsOptions): KeyTexts {
  const kept = createExpiringMap<{ text: string | undefined }>(clock, {
    keptMs: KEPT_MS,
    most: CACHED_KEYS_MAX,
  })
  let generation = 0

  const look = async (token: string) => {
    const began = generation
    const text = await find(token)
    if (began === generation) kept.set(token, { text })
    return text
  }

  return {
    textOf(token) {
      if (!TOKEN.test(token)) return undefined
      const known = kept.get(token)
      return known ? known.text : look(token)
    },
    forget() {
      generation++
      kept.clear()
    },
  }
}
