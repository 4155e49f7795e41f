/** How fast attempts at one site may begin: a token bucket that holds one second's worth. */
import type { Clock, Timer } from '../../lib/clock.ts'

export interface Pace {
  /** Whether an attempt may begin now. When not, `onReady` follows. */
  allows(): boolean
  /** An attempt begins. */
  begin(): void
  close(): void
}

const SECOND_MS = 1_000

/** @param perSecond any number when null */
export function createPace(clock: Clock, perSecond: number | null, onReady: () => void): Pace {
  if (perSecond === null) return UNBOUNDED
  const holds = Math.max(1, perSecond)
  let tokens = holds
  let at = clock.monotonic()
  let timer: Timer | undefined

  return {
    allows() {
      const now = clock.monotonic()
      tokens = Math.min(holds, tokens + ((now - at) * perSecond) / SECOND_MS)
      at = now
      if (tokens >= 1) return true
      timer ??= clock.timer(Math.ceil(((1 - tokens) * SECOND_MS) / perSecond), () => {
        timer = undefined
        onReady()
      })
      return false
    },
    begin() {
      tokens--
    },
    close() {
      timer?.cancel()
      timer = undefined
    },
  }
}

const UNBOUNDED: Pace = { allows: () => true, begin() {}, close() {} }
