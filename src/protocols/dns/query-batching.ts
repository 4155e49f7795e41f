/**
 * Spreads a burst of DNS queries over turns of the event loop. More than about 250 datagrams at once overflow
 * a socket buffer at either end, and each lost datagram costs a retry timeout.
 */

interface QueryBatching {
  /** Resolves when the caller may send its query: at once or in a later turn, in the order of the calls. */
  turn(): Promise<void>
}

/** A limit on queries in progress would let slow look-ups delay fast ones; this limit per turn does not. */
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
