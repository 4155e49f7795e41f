/**
 * Deletes sent and received mail that is older than the retention of its account's plan, with the files that
 * only this mail needed. Emails with deliveries in progress are kept.
 */
import { lastIdAt } from '../../lib/ids.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import type { Beyond, Deleted, retentionCommands } from './commands.ts'
import { type HorizonsOptions, horizons } from './horizons.ts'
import type { inboundRetentionCommands } from './inbound-commands.ts'

interface MailSweeperOptions extends HorizonsOptions {
  blobs: BlobFiles
}

interface MailKind {
  hasAny(beyond: Beyond): Promise<boolean>
  /** Deletes some mail in one command. */
  delete(beyond: Beyond): Promise<Pick<Deleted, 'more' | 'unusedFiles'>>
}

export function sweepEmails(
  options: MailSweeperOptions & { run: Run<typeof retentionCommands> },
): AsyncGenerator<void> {
  const { db, run } = options
  return sweepBeyond(options, {
    hasAny: beyond => hasEmails(db, beyond),
    delete: beyond => run('deleteBeyond', beyond),
  })
}

export function sweepInbound(
  options: MailSweeperOptions & { run: Run<typeof inboundRetentionCommands> },
): AsyncGenerator<void> {
  const { db, run } = options
  return sweepBeyond(options, {
    hasAny: beyond => hasInbound(db, beyond),
    delete: beyond => run('deleteInboundBeyond', beyond),
  })
}

/** Rows are deleted before their files. A file that a crash leaves behind is deleted by `sweepFiles()`. */
async function* sweepBeyond(options: MailSweeperOptions, kind: MailKind): AsyncGenerator<void> {
  const { db, blobs } = options
  for await (const accounts of horizons(options)) {
    for (const beyond of accounts)
      for (let more = await kind.hasAny(beyond); more; yield) {
        const deleted = await kind.delete(beyond)
        for (const name of deleted.unusedFiles) await blobs.discard(db, name)
        more = deleted.more
      }
    yield
  }
}

async function hasEmails(db: Db, { accountId, horizon }: Beyond): Promise<boolean> {
  const email = await db
    .selectFrom('emails')
    .select('id')
    .where('accountId', '=', accountId)
    .where('endedAt', '<=', horizon)
    .limit(1)
    .executeTakeFirst()
  return email !== undefined
}

async function hasInbound(db: Db, { accountId, horizon }: Beyond): Promise<boolean> {
  const message = await db
    .selectFrom('inboundSubjects')
    .select('id')
    .where('accountId', '=', accountId)
    .where('id', '<=', lastIdAt(horizon))
    .limit(1)
    .executeTakeFirst()
  return message !== undefined
}
