/** Deletes idempotency keys after their retention of 24 hours. */
import type { Clock } from '../../lib/clock.ts'
import { inSteps } from '../../lib/sweeper.ts'
import { command, type Run } from '../../store/model/command.ts'
import { KEY_RETENTION_MS } from './idempotency.ts'

export const idempotencyKeyCommands = {
  /**
   * Deletes keys that are as old as `before` (epoch ms), oldest first, at most `limit`.
   * @returns the number of deleted keys
   */
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

const KEYS_PER_STEP_MAX = 500

export function sweepKeys({ run, clock }: { run: Run<typeof idempotencyKeyCommands>; clock: Clock }) {
  return inSteps(KEYS_PER_STEP_MAX, limit =>
    run('forgetKeys', { before: clock.now() - KEY_RETENTION_MS, limit }),
  )
}
