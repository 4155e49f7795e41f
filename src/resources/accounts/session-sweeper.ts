/** Deletes expired sessions, which were not used for two weeks. */
import type { Clock } from '../../lib/clock.ts'
import { inSteps } from '../../lib/sweeper.ts'
import type { Run } from '../../store/model/command.ts'
import { SESSION_IDLE_MS } from './sessions.ts'
import type { userCommands } from './user-rows.ts'

const SESSIONS_PER_STEP_MAX = 500

/** Deletes expired sessions, in steps. */
export function sweepSessions({ run, clock }: { run: Run<typeof userCommands>; clock: Clock }) {
  return inSteps(SESSIONS_PER_STEP_MAX, limit =>
    run('forgetSessions', { before: clock.now() - SESSION_IDLE_MS, limit }),
  )
}
