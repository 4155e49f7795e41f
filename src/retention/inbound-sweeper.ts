/** Goes through all accounts and has received mail deleted that is beyond their horizons. */
import type { Plans } from '../accounts/plans.ts'
import type { Clock } from '../lib/clock.ts'
import { lastIdAt } from '../lib/ids.ts'
import type { BlobFiles } from '../store/blobs/blobs.ts'
import type { Run } from '../store/command.ts'
import type { Db } from '../store/schema.ts'
import type { Beyond } from './commands.ts'
import { horizons } from './horizons.ts'
import type { inboundRetentionCommands } from './inbound-commands.ts'

interface InboundSweeperOptions {
  db: Db
  run: Run<typeof inboundRetentionCommands>
  blobs: BlobFiles
  plans: Pick<Plans, 'named'>
  clock: Clock
}

/** For a sweeper. */
export async function* sweepInbound(options: InboundSweeperOptions): AsyncGenerator<void> {
  const { db, run, blobs } = options
  for await (const accounts of horizons(options)) {
    for (const beyond of accounts)
      for (let more = await hasAny(db, beyond); more; yield) {
        const deleted = await run('deleteInboundBeyond', beyond)
        for (const name of deleted.unusedFiles) await blobs.discard(db, name)
        more = deleted.more
      }
    yield
  }
}

async function hasAny(db: Db, { accountId, horizon }: Beyond): Promise<boolean> {
  const message = await db
    .selectFrom('inboundSubjects')
    .select('id')
    .where('accountId', '=', accountId)
    .where('id', '<=', lastIdAt(horizon))
    .limit(1)
    .executeTakeFirst()
  return message !== undefined
}
