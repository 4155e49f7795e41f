/** Ends imports whose process died, and deletes expired import reports. */
import type { Clock } from '../../../lib/clock.ts'
import type { Run } from '../../../store/command.ts'
import type { importCommands } from './commands.ts'

/** One that is under way is heard of more often, or is let go. */
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
