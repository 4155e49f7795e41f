/**
 * Caches the answers of one kind of look-up for a short time, including negative ones and failures, and
 * coalesces concurrent look-ups. It stands between the resolver's callers and the name servers.
 */
import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap } from '../../lib/expiring-map.ts'
import type { Answer, LookUp } from './answer.ts'

/**
 * `node:dns` does not return the TTL of MX and TXT records. One minute is shorter than the TTL in most zones.
 */
const FOUND_MS = 60_000
const NEGATIVE_MS = 30_000
const FAILURE_MS = 5_000

interface AnswerCacheOptions<T> {
  ask(name: string): Promise<Answer<T>>
  clock: Clock
  /** The oldest entries are removed beyond this number. */
  maxEntries: number
}

export function createAnswerCache<T>({ ask, clock, maxEntries }: AnswerCacheOptions<T>): LookUp<T> {
  const cache = createExpiringMap<Answer<T>>(clock, { ttlMs: FOUND_MS, maxEntries })
  const asking = new Map<string, Promise<Answer<T>>>()

  const askAnew = async (name: string) => {
    const running = ask(name)
    asking.set(name, running)
    try {
      const answer = await running
      // An older query must not overwrite the answer of a newer one.
      if (asking.get(name) === running) cache.set(name, answer, cacheMs(answer))
      return answer
    } finally {
      if (asking.get(name) === running) asking.delete(name)
    }
  }

  return async (name, { fresh = false } = {}) => {
    if (fresh) return askAnew(name)
    return cache.get(name) ?? asking.get(name) ?? askAnew(name)
  }
}

function cacheMs(answer: Answer<unknown>): number {
  if (answer.kind === 'found') return Math.min(answer.ttlMs ?? FOUND_MS, FOUND_MS)
  return answer.kind === 'failure' ? FAILURE_MS : NEGATIVE_MS
}
