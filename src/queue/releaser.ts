/** Watches for the time of scheduled emails: knows when the next one is due, never which. */
import type { Clock, Timer } from '../lib/clock.ts'
import type { Run } from '../store/command.ts'
import type { releaseCommands } from './release.ts'

export interface Releaser {
  /** Some email is scheduled for `at`, epoch ms. */
  note(at: number): void
  /** Lets no more in; resolves when nothing is under way. */
  stop(): Promise<void>
}

interface ReleaserOptions {
  run: Run<typeof releaseCommands>
  clock: Clock
  onError(error: unknown): void
}

/** Others write between two steps. */
const MOST_AT_ONCE = 500
/** Wall time may jump; it is looked at again at least this often. */
const LONGEST_SLEEP_MS = 500
const AFTER_FAILURE_MS = 1_000

/** Looks at once for what has become due while nobody watched. */
export function createReleaser({ run, clock, onError }: ReleaserOptions): Releaser {
  let nextAt = clock.now()
  let timer: Timer | undefined
  let releasing: Promise<void> | undefined
  let stopped = false

  const releaseDue = async () => {
    while (!stopped && nextAt <= clock.now()) {
      nextAt = Number.POSITIVE_INFINITY
      const found = await run('releaseScheduled', { now: clock.now(), limit: MOST_AT_ONCE })
      nextAt = Math.min(nextAt, found ?? Number.POSITIVE_INFINITY)
    }
    return 0
  }

  const look = () => {
    releasing = releaseDue()
      .catch(error => {
        onError(error)
        nextAt = Math.min(nextAt, clock.now())
        return AFTER_FAILURE_MS
      })
      .then(waitMs => {
        releasing = undefined
        arm(waitMs)
      })
  }

  const arm = (leastMs: number) => {
    timer?.cancel()
    if (stopped || releasing || nextAt === Number.POSITIVE_INFINITY) return
    timer = clock.timer(Math.max(leastMs, Math.min(nextAt - clock.now(), LONGEST_SLEEP_MS)), look)
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
      await releasing
    },
  }
}
