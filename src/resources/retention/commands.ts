/**
 * Deletes emails beyond their account's horizon with all their rows, in small steps. The sweepers of this
 * folder call it; `app/maintenance.ts` starts them.
 */

import { type Clock, systemClock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { releaseBlobs } from '../../store/blobs/blobs.ts'
import { blobName } from '../../store/blobs/staged.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { EmailRow } from '../../store/model/schema.ts'
import { releaseContents } from '../emails/content-rows.ts'
import { countDeletedEmail, countDeletedEvents } from '../events/record.ts'

export interface Beyond {
  accountId: Id
  /** Epoch ms; emails that ended at or before it are deleted. */
  horizon: number
}

export interface Deleted {
  emailCount: number
  /** True if there may be more to delete. */
  more: boolean
  /** Names of blobs without references. */
  unusedFiles: string[]
}

type OldEmail = Pick<EmailRow, 'id' | 'status' | 'contentId' | 'attachments' | 'raw'>

/** Emails per round. The command repeats rounds within `DURATION_MS_MAX`. */
const EMAILS_PER_ROUND = 16
/** Limit for the events and for the attempts of a round. The rest is deleted later. */
const RECORDS_PER_ROUND_MAX = 500
/** All writes wait meanwhile. */
const DURATION_MS_MAX = 8
const EMAILS_MAX = 128

export function retentionCommandsWith(clock: Pick<Clock, 'monotonic'>) {
  return {
    /** Deletes the emails that ended first. */
    deleteBeyond: command<Beyond, Deleted>(
      async (tx, beyond) => {
        const endsAt = clock.monotonic() + DURATION_MS_MAX
        const deleted: Deleted = { emailCount: 0, more: true, unusedFiles: [] }
        do {
          const emails = await findBeyond(tx, beyond)
          deleted.more = emails.length === EMAILS_PER_ROUND
          if (!(await deleteRecords(tx, beyond.accountId, emails))) return { ...deleted, more: true }
          deleted.unusedFiles.push(...(await deleteEmails(tx, beyond.accountId, emails)))
          deleted.emailCount += emails.length
        } while (deleted.more && deleted.emailCount < EMAILS_MAX && clock.monotonic() < endsAt)
        return deleted
      },
      { weigh: () => EMAILS_MAX },
    ),
  }
}

export const retentionCommands = retentionCommandsWith(systemClock)

function findBeyond({ db }: Tx, { accountId, horizon }: Beyond): Promise<OldEmail[]> {
  return db
    .selectFrom('emails')
    .select(['id', 'status', 'contentId', 'attachments', 'raw'])
    .where('accountId', '=', accountId)
    .where('endedAt', '<=', horizon)
    .orderBy('endedAt')
    .limit(EMAILS_PER_ROUND)
    .execute()
}

/** An email may have any number of records. Returns false if some may be left. */
async function deleteRecords(tx: Tx, accountId: Id, emails: readonly OldEmail[]): Promise<boolean> {
  const { db } = tx
  const ids = emails.map(({ id }) => id)
  if (ids.length === 0) return true
  const events = await db
    .deleteFrom('events')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('subjectId', 'id'),
        'in',
        selectFrom('events')
          .select(['subjectId', 'id'])
          .where('subjectId', 'in', ids)
          .limit(RECORDS_PER_ROUND_MAX)
          .$asTuple('subjectId', 'id'),
      ),
    )
    .executeTakeFirstOrThrow()
  countDeletedEvents(tx, accountId, Number(events.numDeletedRows))
  const attempts = await db
    .deleteFrom('attempts')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('emailId', 'ordinal', 'number'),
        'in',
        selectFrom('attempts')
          .select(['emailId', 'ordinal', 'number'])
          .where('emailId', 'in', ids)
          .limit(RECORDS_PER_ROUND_MAX)
          .$asTuple('emailId', 'ordinal', 'number'),
      ),
    )
    .executeTakeFirstOrThrow()
  return events.numDeletedRows < RECORDS_PER_ROUND_MAX && attempts.numDeletedRows < RECORDS_PER_ROUND_MAX
}

/** @returns names of blobs without references */
async function deleteEmails(tx: Tx, accountId: Id, emails: readonly OldEmail[]): Promise<string[]> {
  if (emails.length === 0) return []
  const { db } = tx
  const ids = emails.map(({ id }) => id)
  await db.deleteFrom('deliveries').where('emailId', 'in', ids).execute()
  await db.deleteFrom('visits').where('emailId', 'in', ids).execute()
  await db.deleteFrom('emailShares').where('accountId', '=', accountId).where('emailId', 'in', ids).execute()
  for (const table of ['threadMessages', 'emails'] as const)
    await db.deleteFrom(table).where('accountId', '=', accountId).where('id', 'in', ids).execute()
  await tx.indexBlocks.moved(ids.map(id => ({ accountId, id, status: null })))
  for (const { status } of emails) countDeletedEmail(tx, accountId, status)
  await releaseContents(
    tx,
    emails.map(({ contentId }) => contentId),
  )
  return releaseBlobs(tx, emails.flatMap(hashesOf))
}

/** @returns hashes of the attachments and of the raw message, in hex */
function hashesOf({ attachments, raw }: OldEmail): string[] {
  const files = attachments === null ? [] : (JSON.parse(attachments) as { hash: string }[])
  return [...files.map(({ hash }) => hash), ...(raw === null ? [] : [blobName(raw)])]
}
