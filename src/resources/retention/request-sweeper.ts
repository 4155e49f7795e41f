/** Deletes logged requests beyond the retention of the log and of their account's plan. */
import { firstIdAt } from '../../lib/ids.ts'
import { inSteps } from '../../lib/sweeper.ts'
import type { Run } from '../../store/model/command.ts'
import type { requestLogCommands } from '../request-log/commands.ts'
import { logHorizon } from '../request-log/horizon.ts'
import { type HorizonsOptions, horizons } from './horizons.ts'

interface RequestSweeperOptions extends HorizonsOptions {
  run: Run<typeof requestLogCommands>
  retentionDays: number
}

const REQUESTS_PER_STEP_MAX = 500

export async function* sweepRequests({
  run,
  retentionDays,
  ...options
}: RequestSweeperOptions): AsyncGenerator<void> {
  for await (const accounts of horizons(options))
    for (const { accountId, horizon } of accounts) {
      const before = firstIdAt(logHorizon(horizon, retentionDays, options.clock.now()) + 1)
      yield* inSteps(REQUESTS_PER_STEP_MAX, limit => run('forgetRequests', { accountId, before, limit }))
    }
}
