/** Map with a time to live per entry and a maximum number of entries. */
import { BoundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'

export interface ExpiringMap<V> {
  /** @returns undefined when there is no entry or it has expired */
  get(key: string): V | undefined
  /**
   * Adds or replaces an entry, whose time to live starts now. When the map is full, the oldest entries
   * are removed.
   * @param forMs time to live of this entry, if it differs from that of the map
   */
  set(key: string, value: V, forMs?: number): void
  delete(key: string): void
  clear(): void
}

/** @param most maximum number of entries */
export function createExpiringMap<V>(
  clock: Clock,
  { ttlMs, maxEntries }: { ttlMs: number; maxEntries: number },
): ExpiringMap<V> {
  const entries = new BoundedMap<string, { value: V; until: number }>(maxEntries)
  return {
    get(key) {
      const known = entries.get(key)
      if (known && known.until > clock.monotonic()) return known.value
      entries.delete(key)
      return undefined
    },
    set(key, value, forMs = ttlMs) {
      entries.set(key, { value, until: clock.monotonic() + forMs })
    },
    delete: key => void entries.delete(key),
    clear: () => entries.clear(),
  }
}

/**
 * Caches the promise of a look-up, so that concurrent callers share it. A failed look-up is removed.
 * @param ttlMs time to live of the result from its arrival on, if it differs from that of the map
 */
export function keepUnlessFailed<V>(
  map: ExpiringMap<Promise<V>>,
  key: string,
  found: Promise<V>,
  ttlMs?: (value: V) => number | undefined,
): Promise<V> {
  map.set(key, found)
  found.then(
    value => {
      const forMs = ttlMs?.(value)
      if (forMs !== undefined && map.get(key) === found) map.set(key, found, forMs)
    },
    () => {
      if (map.get(key) === found) map.delete(key)
    },
  )
  return found
}
