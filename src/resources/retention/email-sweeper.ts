/**
 * Goes through all accounts and has deleted what is beyond their horizons; what is under way is never
 * touched.
 */
import type { Run } from '../../store/command.ts'
import type { Db } from '../../store/schema.ts'
import type { Beyond, retentionCommands } from './commands.ts'
import { type BeyondSweeperOptions, sweepBeyond } from './sweep-beyond.ts'

interface EmailSweeperOptions extends BeyondSweeperOptions {
  run: Run<typeof retentionCommands>
}

/** For a sweeper. */
export function sweepEmails(options: EmailSweeperOptions): AsyncGenerator<void> {
  const { db, run } = options
  return sweepBeyond(options, {
    hasAny: beyond => hasAny(db, beyond),
    delete: beyond => run('deleteBeyond', beyond),
  })
}

async function hasAny(db: Db, { accountId, horizon }: Beyond): Promise<boolean> {
  const email = await db
    .selectFrom('emails')
    .select('id')
    .where('accountId', '=', accountId)
    .where('endedAt', '<=', horizon)
    .limit(1)
    .executeTakeFirst()
  return email !== undefined
}
