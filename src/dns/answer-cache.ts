/**
 * Keeps the answers of one kind of look-up for a short while, negative ones and failures too, and asks only
 * once for what many want at the same time. Stands between the resolver's callers and the name servers.
 */
import type { Clock } from '../lib/clock.ts'
import type { Answer, LookUp } from './answer.ts'

/** `node:dns` shows no TTL for MX and TXT, so that nothing may be kept longer than most zones would bear. */
const FOUND_MS = 60_000
const NEGATIVE_MS = 30_000
const FAILURE_MS = 5_000

export interface AnswerCacheOptions<T> {
  ask(name: string): Promise<Answer<T>>
  clock: Clock
  /** Beyond it the oldest entries go. */
  maxEntries: number
}

export function createAnswerCache<T>({ ask, clock, maxEntries }: AnswerCacheOptions<T>): LookUp<T> {
  const kept = new Map<string, { answer: Answer<T>; until: number }>()
  const asking = new Map<string, Promise<Answer<T>>>()

  const keep = (name: string, answer: Answer<T>) => {
    kept.delete(name)
    kept.set(name, { answer, until: clock.monotonic() + keepMs(answer) })
    if (kept.size > maxEntries) kept.delete(kept.keys().next().value!)
  }

  const askAnew = async (name: string) => {
    const running = ask(name)
    asking.set(name, running)
    try {
      const answer = await running
      // an older question's answer must not take the place of a newer one's
      if (asking.get(name) === running) keep(name, answer)
      return answer
    } finally {
      if (asking.get(name) === running) asking.delete(name)
    }
  }

  return async (name, { fresh = false } = {}) => {
    if (fresh) return askAnew(name)
    const known = kept.get(name)
    if (known && clock.monotonic() < known.until) return known.answer
    return asking.get(name) ?? askAnew(name)
  }
}

function keepMs(answer: Answer<unknown>): number {
  if (answer.kind === 'found') return Math.min(answer.ttlMs ?? FOUND_MS, FOUND_MS)
  return answer.kind === 'failure' ? FAILURE_MS : NEGATIVE_MS
}
