/** Takes idempotency keys away that are older than a day: nothing asks for them any more. */
import type { Clock, Timer } from '../lib/clock.ts'
import { command, type Run } from '../store/command.ts'
import { KEY_RETENTION_MS } from './idempotency.ts'

export const keyCommands = {
  /** Deletes keys as old as `before` (epoch ms), oldest first, at most `limit`. @returns how many there were */
  forgetKeys: command<{ before: number; limit: number }, number>(async (tx, { before, limit }) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('idempotencyKeys')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('accountId', 'endpoint', 'key'),
          'in',
          selectFrom('idempotencyKeys')
            .select(['accountId', 'endpoint', 'key'])
            .where('createdAt', '<=', before)
            .orderBy('createdAt')
            .limit(limit)
            .$asTuple('accountId', 'endpoint', 'key'),
        ),
      )
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }),
}

export interface KeySweeper {
  /** Resolves when nothing is under way. */
  stop(): Promise<void>
}

interface KeySweeperOptions {
  run: Run<typeof keyCommands>
  clock: Clock
  onError(error: unknown): void
}

const EVERY_MS = 3_600_000
/** Others write between two steps. */
const MOST_AT_ONCE = 500

/** Sweeps at once, then every hour. */
export function startKeySweeper({ run, clock, onError }: KeySweeperOptions): KeySweeper {
  let timer: Timer | undefined
  let stopped = false
  let sweeping: Promise<void> = Promise.resolve()

  const sweep = async () => {
    for (let deleted = MOST_AT_ONCE; deleted === MOST_AT_ONCE && !stopped; )
      deleted = await run('forgetKeys', { before: clock.now() - KEY_RETENTION_MS, limit: MOST_AT_ONCE })
  }
  const begin = () => {
    sweeping = sweep()
      .catch(onError)
      .then(() => {
        if (!stopped) timer = clock.timer(EVERY_MS, begin)
      })
  }

  begin()
  return {
    async stop() {
      stopped = true
      timer?.cancel()
      await sweeping
    },
  }
}
