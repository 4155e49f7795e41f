/** Rate limit of one egress path: a token bucket that holds the tokens of one second, and at least one. */
import type { Clock, Timer } from '../../../lib/clock.ts'

export interface TokenBucket {
  /** Attempts per second; null when there is no limit. */
  readonly perSecond: number | null
  /** Whether an attempt may start now. When not, `onReady` is called once one may. */
  allows(): boolean
  /** Takes a token for an attempt that starts. */
  begin(): void
  /** Changes the rate. */
  change(perSecond: number | null): void
  close(): void
}

const SECOND_MS = 1_000

/** @param initial attempts per second; null when there is no limit */
export function createTokenBucket(clock: Clock, initial: number | null, onReady: () => void): TokenBucket {
  let perSecond = initial
  let tokens = holds(initial)
  let at = clock.monotonic()
  let timer: Timer | undefined

  const fill = (rate: number) => {
    const now = clock.monotonic()
    tokens = Math.min(holds(rate), tokens + ((now - at) * rate) / SECOND_MS)
    at = now
  }
  const waitFor = (rate: number) => {
    timer ??= clock.timer(Math.ceil(((1 - tokens) * SECOND_MS) / rate), () => {
      timer = undefined
      onReady()
    })
  }
  const close = () => {
    timer?.cancel()
    timer = undefined
  }
  return {
    get perSecond() {
      return perSecond
    },
    allows() {
      if (perSecond === null) return true
      fill(perSecond)
      if (tokens >= 1) return true
      waitFor(perSecond)
      return false
    },
    begin() {
      if (perSecond !== null) tokens--
    },
    change(next) {
      if (next === perSecond) return
      const isAwaited = timer !== undefined
      close()
      if (perSecond !== null) fill(perSecond)
      tokens = Math.min(perSecond === null ? 1 : tokens, holds(next))
      at = clock.monotonic()
      perSecond = next
      if (isAwaited) onReady()
    },
    close,
  }
}

function holds(perSecond: number | null): number {
  return Math.max(1, perSecond ?? 1)
}
