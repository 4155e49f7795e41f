/** Deletes expired sessions, which were not used for two weeks. */
import type { Clock } from '../../lib/clock.ts'
import type { Run } from '../../store/model/command.ts'
import { SESSION_IDLE_MS } from './sessions.ts'
import type { userCommands } from './user-rows.ts'

const CONCURRENT_MAX = 500

/** Deletes expired sessions, in steps. */
export async function* sweepSessions({
  run,
  clock,
}: {
  run: Run<typeof userCommands>
  clock: Clock
}): AsyncGenerator<void> {
  for (let deleted = CONCURRENT_MAX; deleted === CONCURRENT_MAX; yield)
    deleted = await run('forgetSessions', { before: clock.now() - SESSION_IDLE_MS, limit: CONCURRENT_MAX })
}
