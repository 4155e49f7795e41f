/** What happens to many at once is counted once: a group of a thousand deliveries says the same a thousand times. */

/** Things that are alike by their keys: the first of each kind, and how many there are. */
export function tally<T>(things: Iterable<T>, keyOf: (thing: T) => string): Iterable<readonly [T, number]> {
  const kinds = new Map<string, [T, number]>()
  for (const thing of things) {
    const key = keyOf(thing)
    const known = kinds.get(key)
    if (known) known[1]++
    else kinds.set(key, [thing, 1])
  }
  return kinds.values()
}
