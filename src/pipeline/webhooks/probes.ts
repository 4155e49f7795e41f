/**
 * Endpoints from which nothing but failures comes take turns: each turn is one attempt at one of them, and
 * turns are so far apart that what their handshakes and replies cost stays small, however many they are
 * ([why](../../docs/decisions/0057-circuit-breaker-for-webhook-endpoints.md)).
 */
import type { Clock, Timer } from '../../lib/clock.ts'

interface Probes<E> {
  /** It waits for its turn, behind those that wait already. */
  join(endpoint: E): void
  /** It does not wait any more. */
  leave(endpoint: E): void
  stop(): void
}

/** 20 attempts a second, of all endpoints together. */
export const PROBE_EVERY_MS = 50

/** @param onTurn it may be tried once */
export function createProbes<E>(clock: Clock, onTurn: (endpoint: E) => void): Probes<E> {
  const line = new Set<E>()
  let timer: Timer | undefined

  const wait = () => {
    timer ??= clock.timer(PROBE_EVERY_MS, next)
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
