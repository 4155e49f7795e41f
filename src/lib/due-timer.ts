/**
 * Runs work when the earliest of many due times is reached. The timer knows when the next item is due, not
 * which item.
 */
import type { Clock, Timer } from './clock.ts'
import { inTask, parkedMs } from './tasks.ts'

export interface DueTimer {
  /** Reports that an item is due at `at`, in ms since the epoch. */
  note(at: number): void
  /** Starts no further work. Resolves when the work in progress has ended. */
  stop(): Promise<void>
}

interface DueTimerOptions {
  /** Name of the background task, see `tasks.ts`. */
  task: string
  clock: Clock
  /**
   * Processes some of the due items. When the function throws, it is called again.
   * @returns when the next item is due, in ms since the epoch; a past time when more items are due; null when
   * no item is known
   */
  work(now: number): Promise<number | null>
  /** The timer sleeps at most this long, because wall time may jump. */
  longestSleepMs: number
  afterFailureMs: number
  onError(error: unknown): void
}

/** Starts the timer and calls `work` at once, for items that became due before the start. */
export function startDueTimer(options: DueTimerOptions): DueTimer {
  const { task, clock, work, longestSleepMs, afterFailureMs, onError } = options
  let nextAt = clock.now()
  let timer: Timer | undefined
  let working: Promise<void> | undefined
  let stopped = false

  const workOff = async () => {
    for (let now = clock.now(); !stopped && nextAt <= now; now = clock.now()) {
      nextAt = Number.POSITIVE_INFINITY
      const found = await work(now)
      nextAt = Math.min(nextAt, found ?? Number.POSITIVE_INFINITY) // `note` may have been called meanwhile
    }
    return 0
  }
  const poll = () => {
    const parkedForMs = parkedMs(task, clock)
    if (parkedForMs > 0) return arm(parkedForMs)
    working = inTask(task, workOff)
      .catch(error => {
        onError(error)
        nextAt = Math.min(nextAt, clock.now())
        return afterFailureMs
      })
      .then(waitMs => {
        working = undefined
        arm(waitMs)
      })
  }
  const arm = (minMs: number) => {
    timer?.cancel()
    if (stopped || working || nextAt === Number.POSITIVE_INFINITY) return
    timer = clock.timer(Math.max(minMs, Math.min(nextAt - clock.now(), longestSleepMs)), poll)
  }

  poll()
  return {
    note(at) {
      if (at >= nextAt) return
      nextAt = at
      arm(0)
    },
    async stop() {
      stopped = true
      timer?.cancel()
      await working
    },
  }
}
