/** Ends imports whose process died, and deletes expired import reports. */
import type { Clock } from '../../../lib/clock.ts'
import type { Run } from '../../../store/model/command.ts'
import type { importCommands } from './commands.ts'

/** An import in progress is updated more often. Without updates it counts as interrupted. */
const LOST_AFTER_MS = 10 * 60_000
const KEPT_MS = 90 * 24 * 60 * 60_000

interface SweepOptions {
  run: Run<typeof importCommands>
  clock: Clock
}

/** Finishes interrupted imports, in steps. */
export async function* sweepImports({ run, clock }: SweepOptions): AsyncGenerator<void> {
  const at = clock.now()
  await run('endLostImports', { before: at - LOST_AFTER_MS, at })
  yield
  await run('forgetImports', { endedBefore: at - KEPT_MS })
  yield
}
