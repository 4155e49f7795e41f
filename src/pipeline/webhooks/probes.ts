/**
 * Probes failing endpoints in turn: one attempt to one endpoint at a time, at a fixed interval, so that the
 * cost of handshakes does not grow with the number of failing endpoints (decision 0057).
 */
import type { Clock, Timer } from '../../lib/clock.ts'

interface Probes<E> {
  /** Adds the endpoint at the end of the line. */
  join(endpoint: E): void
  /** Removes the endpoint. */
  leave(endpoint: E): void
  stop(): void
}

/** Interval between probes of all endpoints together: 20 per second. */
export const PROBE_INTERVAL_MS = 50

/** @param onTurn is called when the endpoint may be tried once */
export function createProbes<E>(clock: Clock, onTurn: (endpoint: E) => void): Probes<E> {
  const line = new Set<E>()
  let timer: Timer | undefined

  const wait = () => {
    timer ??= clock.timer(PROBE_INTERVAL_MS, next)
  }
  const next = () => {
    timer = undefined
    const [first] = line
    if (first === undefined) return
    line.delete(first)
    if (line.size > 0) wait()
    onTurn(first)
  }
  return {
    join(endpoint) {
      line.add(endpoint)
      wait()
    },
    leave: endpoint => void line.delete(endpoint),
    stop() {
      timer?.cancel()
      line.clear()
    },
  }
}
