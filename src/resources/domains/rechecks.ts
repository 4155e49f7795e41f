/** Runs automatic domain checks when they are due, the longest overdue first. A crash loses none of them. */
import type { Clock } from '../../lib/clock.ts'
import { type DueTimer, startDueTimer } from '../../lib/due-timer.ts'
import type { Id } from '../../lib/ids.ts'
import type { Run } from '../../store/model/command.ts'
import type { domainCommands } from './commands.ts'

interface RechecksOptions {
  run: Run<typeof domainCommands>
  clock: Clock
  check(accountId: Id, id: Id): Promise<unknown>
  onError(error: unknown): void
}

/** Maximum number of concurrent checks, to limit the load on resolvers. */
const AT_ONCE = 4
/** A check without a result is due again after this time. */
export const DUE_AGAIN_AFTER_MS = 10 * 60_000
const SLEEP_MS_MAX = 30_000
const AFTER_FAILURE_MS = 5_000

/** Starts the automatic checks. The returned timer takes note of new due times. */
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
          if (!stopped) onError(error) // the check was aborted and is due again after the next start
        })
      }),
    )
    return nextAt
  }
  const watch = startDueTimer({
    task: 'check domains',
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
