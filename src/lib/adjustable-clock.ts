/**
 * Clock for tests that runs with the system clock and can be moved. Its offsets lie in shared memory, so
 * every thread of an app sees the same time and fires its timers when the clock is moved past them. Timers of
 * seconds and more wait much longer than they say unless the clock is moved, so that a slow machine does not
 * reach a deadline by itself.
 */
import { BroadcastChannel } from 'node:worker_threads'
import { type Clock, systemClock, type Timer } from './clock.ts'

/** Handle of a clock, which can be posted to a worker so that it joins the clock. */
export interface ClockSeat {
  offsets: SharedArrayBuffer
  channel: string
}

export interface AdjustableClock extends Clock {
  seat: ClockSeat
  /** Moves wall and monotonic time forward by `ms`, in all threads. */
  advance(ms: number): void
  /** Moves wall time alone, forward or back, as an operator or NTP step does. */
  jump(ms: number): void
  close(): void
}

interface Waiting {
  /** Monotonic time at which the timer is due, in ms. */
  at: number
  leftMs(): number
  patience: number
  fn(): void
  handle: Timer
}

const WALL = 0
const MONOTONIC = 1
/** Shorter timers pace work. Timers from this duration on are deadlines. */
const DEADLINE_FROM_MS = 1_500
/** Factor by which a deadline takes longer while the clock is not moved. */
const SLOWDOWN_FACTOR = 20
let clocks = 0

/** Joins the clock of `seat`, or starts a new one that runs with `base`. */
export function createAdjustableClock(seat?: ClockSeat, base: Clock = systemClock): AdjustableClock {
  const { offsets, channel } = seat ?? {
    offsets: new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT),
    channel: `clock-${process.pid}-${++clocks}-${Math.random()}`,
  }
  const offset = new Float64Array(offsets)
  const moved = new BroadcastChannel(channel)
  const waiting = new Set<Waiting>()
  const monotonic = () => base.monotonic() + offset[MONOTONIC]!

  const timer = (ms: number, fn: () => void): Timer => {
    const patience = ms < DEADLINE_FROM_MS ? 1 : SLOWDOWN_FACTOR
    const setAt = { system: base.monotonic(), moved: offset[MONOTONIC]! }
    const entry: Waiting = {
      at: monotonic() + ms,
      leftMs: () => ms - (offset[MONOTONIC]! - setAt.moved) - (base.monotonic() - setAt.system) / patience,
      patience,
      fn() {
        entry.handle.cancel()
        waiting.delete(entry)
        fn()
      },
      handle: { cancel() {} },
    }
    entry.handle = base.timer(ms * patience, entry.fn)
    waiting.add(entry)
    return {
      cancel() {
        entry.handle.cancel()
        waiting.delete(entry)
      },
    }
  }

  const fireDue = () => {
    const due = [...waiting].filter(entry => entry.leftMs() <= 0).sort((a, b) => a.at - b.at)
    for (const entry of due) if (waiting.has(entry)) entry.fn()
    for (const entry of waiting) {
      entry.handle.cancel()
      entry.handle = base.timer(Math.max(0, entry.leftMs() * entry.patience), entry.fn)
    }
  }
  moved.onmessage = fireDue
  moved.unref()

  const announce = () => {
    moved.postMessage('moved')
    fireDue()
  }
  return {
    seat: { offsets, channel },
    now: () => Math.round(base.now() + offset[WALL]!),
    monotonic,
    timer,
    advance(ms) {
      offset[WALL]! += ms
      offset[MONOTONIC]! += ms
      announce()
    },
    jump(ms) {
      offset[WALL]! += ms
    },
    close: () => moved.close(),
  }
}
