/** Clock of the program: wall time for dates, monotonic time for intervals, and timers. */

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall time in ms since the epoch. It may jump. */
  now(): number
  /** Monotonic time in ms. Only differences between two values have a meaning. */
  monotonic(): number
  /** Calls `fn` once, `ms` of monotonic time from now. */
  timer(ms: number, fn: () => void): Timer
}

const TIMER_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  timer(ms, fn) {
    if (ms > TIMER_MS_MAX) return chained(ms, fn)
    const handle = setTimeout(fn, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Splits a timer that exceeds the runtime's limit of 24.8 days into several steps. */
function chained(ms: number, fn: () => void): Timer {
  let step = systemClock.timer(TIMER_MS_MAX, () => {
    step = systemClock.timer(ms - TIMER_MS_MAX, fn)
  })
  return { cancel: () => step.cancel() }
}

/** Calls `fn` every `ms` until the timer is cancelled. */
export function every(clock: Clock, ms: number, fn: () => void): Timer {
  let next = clock.timer(ms, again)
  function again() {
    next = clock.timer(ms, again)
    fn()
  }
  return { cancel: () => next.cancel() }
}

/**
 * @returns the result of the promise, or undefined when the promise takes longer than `ms` of monotonic time
 */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = clock.timer(ms, () => resolve(undefined))
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.cancel()
  }
}

/** Resolves after `ms` of monotonic time, or rejects with the signal's reason. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      timer.cancel()
      reject(signal?.reason)
    }
    const timer = clock.timer(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
