/** Lets scheduled emails into the queue when their time has come. */
import type { Clock } from '../../lib/clock.ts'
import { type DueTimer, startDueTimer } from '../../lib/due-timer.ts'
import type { Run } from '../../store/command.ts'
import type { releaseCommands } from './release.ts'

interface ReleaserOptions {
  run: Run<typeof releaseCommands>
  clock: Clock
  onError(error: unknown): void
}

/** Others write between two steps. */
const EMAILS_PER_STEP_MAX = 500
const SLEEP_MS_MAX = 500
const RETRY_MS = 1_000

/** To be told of the times for which emails are scheduled. */
export function createReleaser({ run, clock, onError }: ReleaserOptions): DueTimer {
  return startDueTimer({
    clock,
    work: now => run('releaseScheduled', { now, limit: EMAILS_PER_STEP_MAX }),
    longestSleepMs: SLEEP_MS_MAX,
    afterFailureMs: RETRY_MS,
    onError,
  })
}
