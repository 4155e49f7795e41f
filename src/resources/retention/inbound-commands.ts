/**
 * Deletes received mail, with everything that belongs to it: one message by its owner's wish, or what is too
 * old, in steps.
 */

import { type Id, lastIdAt } from '../../lib/ids.ts'
import { releaseBlobs } from '../../store/blobs/blobs.ts'
import { blobName } from '../../store/blobs/staged.ts'
import { command, type Tx } from '../../store/command.ts'
import type { InboundMessageRow } from '../../store/schema/inbound.ts'
import { releaseContents } from '../emails/content-rows.ts'
import { INBOUND_COUNTER } from '../emails/inbound-list.ts'
import { countDeletedEvents } from '../events/record.ts'
import type { Beyond } from './commands.ts'

interface DeletedInbound {
  count: number
  /** There may be more. */
  more: boolean
  /** Of blobs that no row names any more. */
  unusedFiles: string[]
}

/** Messages that go together: everybody who writes waits meanwhile. */
const AT_ONCE = 64

type OldInbound = Pick<InboundMessageRow, 'id' | 'contentId' | 'rawHash'>

export const inboundRetentionCommands = {
  deleteInbound: command<{ accountId: Id; id: Id }, DeletedInbound>(async (tx, { accountId, id }) => {
    const rows = await listed(tx, accountId).where('id', '=', id).execute()
    return remove(tx, accountId, rows)
  }),

  /** What was received first, first. What has not been listed yet stays until it is. */
  deleteInboundBeyond: command<Beyond, DeletedInbound>(
    async (tx, { accountId, horizon }) => {
      const rows = await listed(tx, accountId)
        .where('id', '<=', lastIdAt(horizon))
        .orderBy('id')
        .limit(AT_ONCE)
        .execute()
      return remove(tx, accountId, rows)
    },
    { weigh: () => AT_ONCE },
  ),
}

function listed({ db }: Tx, accountId: Id) {
  return db
    .selectFrom('inboundMessages')
    .select(['id', 'contentId', 'rawHash'])
    .where('accountId', '=', accountId)
    .where('listedAt', 'is not', null)
}

async function remove(tx: Tx, accountId: Id, rows: readonly OldInbound[]): Promise<DeletedInbound> {
  const more = rows.length === AT_ONCE
  if (rows.length === 0) return { count: 0, more, unusedFiles: [] }
  const ids = rows.map(({ id }) => id)
  const events = await tx.db.deleteFrom('events').where('subjectId', 'in', ids).executeTakeFirstOrThrow()
  countDeletedEvents(tx, accountId, Number(events.numDeletedRows))
  for (const table of ['inboundSubjects', 'inboundMessages'] as const)
    await tx.db.deleteFrom(table).where('accountId', '=', accountId).where('id', 'in', ids).execute()
  tx.count(accountId, INBOUND_COUNTER, '', -rows.length)
  await releaseContents(
    tx,
    rows.flatMap(({ contentId }) => (contentId === null ? [] : [contentId])),
  )
  const unusedFiles = await releaseBlobs(
    tx,
    rows.map(({ rawHash }) => blobName(rawHash)),
  )
  return { count: rows.length, more, unusedFiles }
}
