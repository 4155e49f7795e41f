/** Goes through all accounts and has received mail deleted that is beyond their horizons. */
import { lastIdAt } from '../../lib/ids.ts'
import type { Run } from '../../store/command.ts'
import type { Db } from '../../store/schema.ts'
import type { Beyond } from './commands.ts'
import type { inboundRetentionCommands } from './inbound-commands.ts'
import { type BeyondSweeperOptions, sweepBeyond } from './sweep-beyond.ts'

interface InboundSweeperOptions extends BeyondSweeperOptions {
  run: Run<typeof inboundRetentionCommands>
}

/** For a sweeper. */
export function sweepInbound(options: InboundSweeperOptions): AsyncGenerator<void> {
  const { db, run } = options
  return sweepBeyond(options, {
    hasAny: beyond => hasAny(db, beyond),
    delete: beyond => run('deleteInboundBeyond', beyond),
  })
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
