/** Map with a time to live per entry and a maximum number of entries. */
import type { Clock } from './clock.ts'

export interface ExpiringMap<V> {
  /** Undefined where nothing is remembered, or not any more. */
  get(key: string): V | undefined
  /**
   * Its time begins anew; where there are too many, the oldest is forgotten.
   * @param forMs where it is not what others have
   */
  set(key: string, value: V, forMs?: number): void
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
    set(key, value, forMs = keptMs) {
      kept.delete(key)
      if (kept.size >= most) kept.delete(kept.keys().next().value!)
      kept.set(key, { value, until: clock.monotonic() + forMs })
    },
    delete: key => void kept.delete(key),
    clear: () => kept.clear(),
  }
}

/**
 * Remembers what a look-up will find, from now on, so that it is not asked for again meanwhile; a failure is
 * not remembered.
 */
export function keepUnlessFailed<V>(
  map: ExpiringMap<Promise<V>>,
  key: string,
  found: Promise<V>,
): Promise<V> {
  map.set(key, found)
  found.catch(() => {
    if (map.get(key) === found) map.delete(key)
  })
  return found
}
