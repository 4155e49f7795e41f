/** What is remembered for a while: each entry for the same time, and so many at most. */
import type { Clock } from './clock.ts'

export interface ExpiringMap<V> {
  /** Undefined where nothing is remembered, or not any more. */
  get(key: string): V | undefined
  /** Its time begins anew; where there are too many, the oldest is forgotten. */
  set(key: string, value: V): void
  delete(key: string): void
  clear(): void
}

/** @param most entries */
export function createExpiringMap<V>(
  clock: Clock,
  { keptMs, most }: { keptMs: number; most: number },
): ExpiringMap<V> {
  const kept = new Map<string, { value: V; until: number }>()
  return {
    get(key) {
      const known = kept.get(key)
      if (known && known.until > clock.monotonic()) return known.value
      kept.delete(key)
      return undefined
    },
    set(key, value) {
      kept.delete(key)
      if (kept.size >= most) kept.delete(kept.keys().next().value!)
      kept.set(key, { value, until: clock.monotonic() + keptMs })
    },
    delete: key => void kept.delete(key),
    clear: () => kept.clear(),
  }
}
