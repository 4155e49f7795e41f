/**
 * Checks domains by themselves when their time has come: a few at once, the longest due first, none forgotten
 * by a crash.
 */
import type { Clock } from '../../lib/clock.ts'
import { type DueTimer, startDueTimer } from '../../lib/due-timer.ts'
import type { Id } from '../../lib/ids.ts'
import type { Run } from '../../store/command.ts'
import type { domainCommands } from './commands.ts'

interface RechecksOptions {
  run: Run<typeof domainCommands>
  clock: Clock
  check(accountId: Id, id: Id): Promise<unknown>
  onError(error: unknown): void
}

/** So many at once, however many are due: nobody's resolvers are flooded. */
const AT_ONCE = 4
/** A check that was begun and left no result is due again after this. */
export const DUE_AGAIN_AFTER_MS = 10 * 60_000
const SLEEP_MS_MAX = 30_000
const AFTER_FAILURE_MS = 5_000

/** To be told of the times at which domains are to be checked. */
export function startRechecks({ run, clock, check, onError }: RechecksOptions): DueTimer {
  let stopped = false

  const checkDue = async (now: number) => {
    const { due, nextAt } = await run('takeDueDomains', {
      now,
      until: now + DUE_AGAIN_AFTER_MS,
      limit: AT_ONCE,
    })
    await Promise.all(
      due.map(async ({ accountId, id }) => {
        await check(accountId, id).catch(error => {
          if (!stopped) onError(error) // cut off: it is due again after the next start
        })
      }),
    )
    return nextAt
  }
  const watch = startDueTimer({
    clock,
    work: checkDue,
    longestSleepMs: SLEEP_MS_MAX,
    afterFailureMs: AFTER_FAILURE_MS,
    onError,
  })
  return {
    note: watch.note,
    stop() {
      stopped = true
      return watch.stop()
    },
  }
}
