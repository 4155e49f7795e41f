/** Checks domains by themselves when their time has come: a few at once, the longest due first, none forgotten by a crash. */
import type { Clock, Timer } from '../lib/clock.ts'
import type { Id } from '../lib/ids.ts'
import type { Run } from '../store/command.ts'
import type { domainCommands } from './commands.ts'

export interface Rechecks {
  /** Some domain is to be checked at `at`, epoch ms. */
  note(at: number): void
  /** Begins no more; resolves when nothing is under way. */
  stop(): Promise<void>
}

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
/** Wall time may jump; it is looked at again at least this often. */
const LONGEST_SLEEP_MS = 30_000
const AFTER_FAILURE_MS = 5_000

export function startRechecks({ run, clock, check, onError }: RechecksOptions): Rechecks {
  let nextAt = clock.now()
  let timer: Timer | undefined
  let checking: Promise<void> | undefined
  let stopped = false

  const checkDue = async () => {
    while (!stopped && nextAt <= clock.now()) {
      const now = clock.now()
      nextAt = Number.POSITIVE_INFINITY
      const { due, nextAt: later } = await run('takeDueDomains', {
        now,
        until: now + DUE_AGAIN_AFTER_MS,
        limit: AT_ONCE,
      })
      nextAt = Math.min(nextAt, later ?? Number.POSITIVE_INFINITY)
      await Promise.all(
        due.map(async ({ accountId, id }) => {
          await check(accountId, id).catch(error => {
            if (!stopped) onError(error) // cut off: it is due again after the next start
          })
        }),
      )
    }
    return 0
  }

  const look = () => {
    checking = checkDue()
      .catch(error => {
        onError(error)
        nextAt = Math.min(nextAt, clock.now())
        return AFTER_FAILURE_MS
      })
      .then(waitMs => {
        checking = undefined
        arm(waitMs)
      })
  }

  const arm = (leastMs: number) => {
    timer?.cancel()
    if (stopped || checking || nextAt === Number.POSITIVE_INFINITY) return
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
      await checking
    },
  }
}
