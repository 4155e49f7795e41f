/**
 * How mail goes to sites now, by the paths that delivery has to them: as threads tell it, and as operators
 * are told.
 */

/** As an operator sees it. Plain data: it goes from thread to thread. */
export interface PathState {
  /** Of the source; none where the system chooses. */
  sourceIps: string[]
  /** Deliveries that it bears at once. */
  window: number
  /** Those in line behind another do not count. */
  underWay: number
  /** Claimed, and not begun. */
  claimed: number
  perSecond: number | null
  /** Null while it does not rest. */
  openBreaker: { until: number; reason: string } | null
  /** The rest is over, and nothing good has been heard yet. */
  isHalfOpen: boolean
  /** An address that is being warmed up has sent what it may today, but for transactional mail. */
  isSpent: boolean
}

/** How mail goes to these sites now; one of which nothing is remembered is left out. */
export type PathsTo = (sites: readonly string[]) => Promise<Map<string, PathState[]>>

/** In wire spelling, times in ISO 8601. */
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
