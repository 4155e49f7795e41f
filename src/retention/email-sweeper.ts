/** Goes through all accounts and has deleted what is beyond their horizons; what is under way is never touched. */
import type { Plans } from '../accounts/plans.ts'
import type { Clock } from '../lib/clock.ts'
import type { BlobFiles } from '../store/blobs/blobs.ts'
import type { Run } from '../store/command.ts'
import type { Db } from '../store/schema.ts'
import type { Beyond, retentionCommands } from './commands.ts'
import { horizons } from './horizons.ts'

interface EmailSweeperOptions {
  db: Db
  run: Run<typeof retentionCommands>
  blobs: BlobFiles
  plans: Pick<Plans, 'named'>
  clock: Clock
}

/** For a sweeper. */
export async function* sweepEmails(options: EmailSweeperOptions): AsyncGenerator<void> {
  for await (const accounts of horizons(options)) {
    for (const beyond of accounts) if (await hasAny(options.db, beyond)) yield* sweepAccount(options, beyond)
    yield
  }
}

/** Rows go first, then the files they named: a file that is left over by a kill is found by the sweeper of files. */
async function* sweepAccount({ db, run, blobs }: EmailSweeperOptions, beyond: Beyond): AsyncGenerator<void> {
  for (let more = true; more; yield) {
    const deleted = await run('deleteBeyond', beyond)
    for (const name of deleted.unusedFiles) await blobs.discard(db, name)
    more = deleted.more
  }
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
