/** Coalesces requests for the same work: one run serves all callers that asked before it began. */

interface SingleFlight<T> {
  /** The next round does it, with whatever else has been asked for until then. */
  ask(what: T): void
  /** Begins no more; resolves when nothing is under way. */
  stop(): Promise<void>
}

/** @param keyOf of what is the same when it is asked for twice */
export function singleFlight<T>(
  work: (what: readonly T[]) => Promise<void>,
  keyOf: (what: T) => string,
  onError: (error: unknown) => void,
): SingleFlight<T> {
  const asked = new Map<string, T>()
  let running: Promise<void> | undefined
  let stopped = false

  const rounds = async () => {
    while (asked.size > 0 && !stopped) {
      const what = [...asked.values()]
      asked.clear()
      await work(what).catch(onError)
    }
    running = undefined
  }
  return {
    ask(what) {
      if (stopped) return
      asked.set(keyOf(what), what)
      running ??= rounds()
    },
    async stop() {
      stopped = true
      await running
    },
  }
}
