/**
 * A clock that runs with the system's but can be moved: the offsets lie in shared memory, so that every
 * thread of one app sees the same time and fires its timers when the clock is moved past them.
 */
import { BroadcastChannel } from 'node:worker_threads'
import { type Clock, systemClock, type Timer } from './clock.ts'

/** What a thread needs to join a clock; can be posted to a worker. */
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

const WALL = 0
const MONOTONIC = 1
let clocks = 0

/** Joins the clock at `seat`, or starts a new one. */
export function createAdjustableClock(seat?: ClockSeat): AdjustableClock {
  const { offsets, channel } = seat ?? {
    offsets: new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT),
    channel: `clock-${process.pid}-${++clocks}-${Math.random()}`,
  }
  const offset = new Float64Array(offsets)
  const moved = new BroadcastChannel(channel)
  const waiting = new Set<{ at: number; fn: () => void; handle: Timer }>()
  const monotonic = () => systemClock.monotonic() + offset[MONOTONIC]!

  const timer = (ms: number, fn: () => void): Timer => {
    const entry = { at: monotonic() + ms, fn: () => void 0, handle: { cancel() {} } as Timer }
    entry.fn = () => {
      entry.handle.cancel()
      waiting.delete(entry)
      fn()
    }
    entry.handle = systemClock.timer(ms, entry.fn)
    waiting.add(entry)
    return {
      cancel() {
        entry.handle.cancel()
        waiting.delete(entry)
      },
    }
  }

  const fireDue = () => {
    const due = [...waiting].filter(entry => entry.at <= monotonic()).sort((a, b) => a.at - b.at)
    for (const entry of due) if (waiting.has(entry)) entry.fn()
    for (const entry of waiting) {
      entry.handle.cancel()
      entry.handle = systemClock.timer(Math.max(0, entry.at - monotonic()), entry.fn)
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
    now: () => Math.round(systemClock.now() + offset[WALL]!),
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
