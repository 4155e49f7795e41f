/**
 * Spreads a burst of DNS queries over turns of the event loop. More than about 250 datagrams at once overflow
 * a socket buffer at either end, and each lost one costs a retry timeout.
 */

interface QueryBatching {
  /** Resolves when the caller may begin: at once, or in a later turn, first come first served. */
  turn(): Promise<void>
}

/** Unlike a limit on what is under way, this lets slow look-ups hold up nobody else. */
export function createQueryBatching(perTurn: number): QueryBatching {
  const waiting: (() => void)[] = []
  let begun = 0

  const nextTurn = () => {
    begun = Math.min(perTurn, waiting.length)
    for (const begin of waiting.splice(0, begun)) begin()
    if (begun > 0) setImmediate(nextTurn)
  }

  return {
    async turn() {
      if (begun < perTurn) {
        if (begun++ === 0) setImmediate(nextTurn)
        return
      }
      await new Promise<void>(resolve => waiting.push(resolve))
    },
  }
}
