/**
 * Current state of egress paths: as delivery threads report it, and as the API and the command line show it.
 */

/** State of an egress path. It is plain data, because it is passed between threads. */
export interface PathState {
  /** Addresses of the egress source; empty when the operating system chooses. */
  sourceIps: string[]
  /** Number of concurrent deliveries allowed. */
  window: number
  /** Number of deliveries in progress. Pipelined ones behind another do not count. */
  underWay: number
  /** Number of claimed deliveries that have not started. */
  claimed: number
  perSecond: number | null
  /** Null while the circuit breaker is closed. `until` is in ms since the epoch. */
  openBreaker: { until: number; reason: string } | null
  /** The pause has ended, and no delivery has succeeded yet. */
  isHalfOpen: boolean
  /** The warm-up budget of the day is used up; only transactional mail is sent. */
  isSpent: boolean
}

/** Returns the paths to each destination; destinations without state are omitted. */
export type PathsTo = (destinations: readonly string[]) => Promise<Map<string, PathState[]>>

/** The path as the API returns it; times are in ISO 8601. */
export interface PathView {
  source_ips: string[]
  window: number
  under_way: number
  claimed: number
  messages_per_second: number | null
  paused_until: string | null
  pause_reason: string | null
  probing: boolean
  warmup_spent: boolean
}

export function pathView(state: PathState): PathView {
  const { sourceIps, window, underWay, claimed, perSecond, openBreaker, isHalfOpen, isSpent } = state
  return {
    source_ips: sourceIps,
    window,
    under_way: underWay,
    claimed,
    messages_per_second: perSecond,
    paused_until: openBreaker && new Date(openBreaker.until).toISOString(),
    pause_reason: openBreaker?.reason ?? null,
    probing: isHalfOpen,
    warmup_spent: isSpent,
  }
}
