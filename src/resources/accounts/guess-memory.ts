/**
 * A bounded map for counters of wrong guesses, in which a flood of new keys does not push out what is under
 * penalty.
 */

export interface GuessMemory<V> {
  get(key: string): V | undefined
  /** @param isProtected whether other protected entries alone may push it out; may change with every call */
  set(key: string, value: V, isProtected: boolean): void
  delete(key: string): void
}

/** @param entriesMax of each kind, protected and not; the entry set longest ago is forgotten first */
export function createGuessMemory<V>(entriesMax: number): GuessMemory<V> {
  const ordinary = new Map<string, V>()
  const protectedOnes = new Map<string, V>()
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
      if (kept.size > entriesMax) kept.delete(kept.keys().next().value!)
    },
    delete: forget,
  }
}
