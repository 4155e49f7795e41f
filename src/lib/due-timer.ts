/** Timer for the earliest of many due times. It knows when the next item is due, not which one. */
import type { Clock, Timer } from './clock.ts'

export interface DueTimer {
  /** Something is due at `at`, epoch ms. */
  note(at: number): void
  /** Begins no more; resolves when nothing is under way. */
  stop(): Promise<void>
}

interface DueWatchOptions {
  clock: Clock
  /**
   * Does a part of what is due. When it throws, it is tried again.
   * @returns when the next is due, epoch ms: now or before, when there is more; null when nothing is known of
   */
  work(now: number): Promise<number | null>
  /** Wall time may jump; it is looked at again at least this often. */
  longestSleepMs: number
  afterFailureMs: number
  onError(error: unknown): void
}

/** Looks at once for what has become due while nobody watched. */
export function startDueTimer(options: DueWatchOptions): DueTimer {
  const { clock, work, longestSleepMs, afterFailureMs, onError } = options
  let nextAt = clock.now()
  let timer: Timer | undefined
  let working: Promise<void> | undefined
  let stopped = false

  const workOff = async () => {
    for (let now = clock.now(); !stopped && nextAt <= now; now = clock.now()) {
      nextAt = Number.POSITIVE_INFINITY
      const found = await work(now)
      nextAt = Math.min(nextAt, found ?? Number.POSITIVE_INFINITY) // something may have been noted meanwhile
    }
    return 0
  }
  const look = () => {
    working = workOff()
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
  const arm = (leastMs: number) => {
    timer?.cancel()
    if (stopped || working || nextAt === Number.POSITIVE_INFINITY) return
    timer = clock.timer(Math.max(leastMs, Math.min(nextAt - clock.now(), longestSleepMs)), look)
  }

  look()
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
