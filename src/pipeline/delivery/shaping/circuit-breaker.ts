/**
 * Rest for a site in trouble: after several failures in a row nothing goes there for a while, then a single probe; each
 * probe that fails doubles the rest. What waits for the site keeps its place in the queue meanwhile.
 */
import type { Clock, Timer } from '../../../lib/clock.ts'

export interface BreakerState {
  /** Epoch ms. */
  until: number
  /** How long it was to be. */
  ms: number
  /** What went wrong last, for people. */
  reason: string
}

export interface CircuitBreaker {
  readonly isOn: boolean
  /** It is over, and the site has not answered yet. */
  readonly isProbing: boolean
  /** While it is on. */
  readonly facts: BreakerState | undefined
  /** A failure of the site. @returns the pause that begins with it, if one does */
  trouble(reason: string): BreakerState | undefined
  /** The site has answered. @returns whether there was a pause */
  clear(): boolean
  resume(facts: BreakerState): void
  /** It is over before its time, and the site is probed. @returns whether it was on */
  end(): boolean
  close(): void
}

const TROUBLES_IN_A_ROW = 5
const FIRST_MS = 60_000
const LONGEST_MS = 15 * 60_000

/** @param onEnd called when it is over */
export function createCircuitBreaker(clock: Clock, onEnd: () => void): CircuitBreaker {
  let facts: BreakerState | undefined
  let troubles = 0
  let timer: Timer | undefined

  /** Ended by the timer, so that a wall clock that jumps does not lengthen it. */
  const begin = (next: BreakerState) => {
    facts = next
    timer?.cancel()
    timer = clock.timer(Math.min(LONGEST_MS, Math.max(0, next.until - clock.now())), () => {
      timer = undefined
      onEnd()
    })
  }

  return {
    get isOn() {
      return timer !== undefined
    },
    get isProbing() {
      return facts !== undefined && timer === undefined
    },
    get facts() {
      return timer && facts
    },
    trouble(reason) {
      troubles++
      if (timer || (!facts && troubles < TROUBLES_IN_A_ROW)) return undefined
      const ms = facts ? Math.min(LONGEST_MS, facts.ms * 2) : FIRST_MS
      begin({ until: clock.now() + ms, ms, reason })
      return facts
    },
    clear() {
      troubles = 0
      const was = facts !== undefined
      facts = undefined
      timer?.cancel()
      timer = undefined
      return was
    },
    resume: begin,
    end() {
      if (!timer) return false
      timer.cancel()
      timer = undefined
      onEnd()
      return true
    },
    close() {
      timer?.cancel()
      timer = undefined
    },
  }
}
