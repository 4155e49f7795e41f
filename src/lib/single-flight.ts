/** Coalesces requests for the same work: one run serves all callers that asked before it started. */

interface SingleFlight<T> {
  /** Requests the work. The next run does it, together with everything else that was requested until then. */
  ask(what: T): void
  /** Starts no further run. Resolves when the run in progress has ended. */
  stop(): Promise<void>
}

/** @param keyOf returns the key of a request; requests with one key are served once */
export function singleFlight<T>(
  work: (what: readonly T[]) => Promise<void>,
  keyOf: (what: T) => string,
  onError: (error: unknown) => void,
): SingleFlight<T> {
  const requested = new Map<string, T>()
  let running: Promise<void> | undefined
  let stopped = false

  const rounds = async () => {
    while (requested.size > 0 && !stopped) {
      const what = [...requested.values()]
      requested.clear()
      await work(what).catch(onError)
    }
    running = undefined
  }
  return {
    ask(what) {
      if (stopped) return
      requested.set(keyOf(what), what)
      running ??= rounds()
    },
    async stop() {
      stopped = true
      await running
    },
  }
}
