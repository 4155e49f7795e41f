/** Bounded map for counters of wrong guesses. A flood of new keys does not evict delayed keys. */

import { BoundedMap } from '../../lib/bounded-map.ts'

interface GuessMemory<V> {
  get(key: string): V | undefined
  /** @param isProtected whether only other protected entries may evict this one; may differ between calls */
  set(key: string, value: V, isProtected: boolean): void
  delete(key: string): void
}

/**
 * @param entriesMax limit per kind (protected or not); the entries that were set longest ago are evicted
 */
export function createGuessMemory<V>(entriesMax: number): GuessMemory<V> {
  const ordinary = new BoundedMap<string, V>(entriesMax)
  const protectedOnes = new BoundedMap<string, V>(entriesMax)
  const forget = (key: string) => {
    ordinary.delete(key)
    protectedOnes.delete(key)
  }
  return {
    get: key => protectedOnes.get(key) ?? ordinary.get(key),
    set(key, value, isProtected) {
      forget(key)
      const kept = isProtected ? protectedOnes : ordinary
      kept.set(key, value)
    },
    delete: forget,
  }
}
