/** Deletes logged requests beyond the retention of the log and of their account's plan. */
import { firstIdAt } from '../../lib/ids.ts'
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
      let count: number
      do {
        count = await run('forgetRequests', { accountId, before, limit: REQUESTS_PER_STEP_MAX })
        yield
      } while (count === REQUESTS_PER_STEP_MAX)
    }
}
