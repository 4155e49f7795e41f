/**
 * Deletes received mail with all its rows: some messages at the request of their owner, or old mail in steps.
 */

import { type Id, lastIdAt } from '../../lib/ids.ts'
import { releaseBlobs } from '../../store/blobs/blobs.ts'
import { blobName } from '../../store/blobs/staged.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { InboundMessageRow } from '../../store/model/schema/inbound.ts'
import { releaseContents } from '../emails/content-rows.ts'
import { INBOUND_COUNTER } from '../emails/inbound-list.ts'
import { countDeletedEvents } from '../events/record.ts'
import type { Beyond } from './commands.ts'

interface DeletedInbound {
  /** Ids of the deleted messages. */
  ids: Id[]
  /** True if there may be more to delete. */
  more: boolean
  /** Names of blobs without references. */
  unusedFiles: string[]
}

/** Messages per command. All writes wait meanwhile. */
const MESSAGES_PER_COMMAND_MAX = 64

type OldInbound = Pick<InboundMessageRow, 'id' | 'contentId' | 'rawHash'>

export const inboundRetentionCommands = {
  /** @param ids each once */
  deleteInbound: command<{ accountId: Id; ids: readonly Id[] }, DeletedInbound>(
    async (tx, { accountId, ids }) => {
      const rows = await listed(tx, accountId).where('id', 'in', ids).execute()
      return remove(tx, accountId, rows)
    },
    { weigh: ({ ids }) => ids.length },
  ),

  /** Deletes the oldest messages first. Messages that are not listed yet are kept. */
  deleteInboundBeyond: command<Beyond, DeletedInbound>(
    async (tx, { accountId, horizon }) => {
      const rows = await listed(tx, accountId)
        .where('id', '<=', lastIdAt(horizon))
        .orderBy('id')
        .limit(MESSAGES_PER_COMMAND_MAX)
        .execute()
      return remove(tx, accountId, rows)
    },
    { weigh: () => MESSAGES_PER_COMMAND_MAX },
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
  const more = rows.length === MESSAGES_PER_COMMAND_MAX
  const ids = rows.map(({ id }) => id)
  if (rows.length === 0) return { ids, more, unusedFiles: [] }
  const events = await tx.db.deleteFrom('events').where('subjectId', 'in', ids).executeTakeFirstOrThrow()
  countDeletedEvents(tx, accountId, Number(events.numDeletedRows))
  for (const table of ['inboundSubjects', 'threadMessages', 'inboundMessages'] as const)
    await tx.db.deleteFrom(table).where('accountId', '=', accountId).where('id', 'in', ids).execute()
  await tx.db
    .deleteFrom('emailShares')
    .where('accountId', '=', accountId)
    .where('emailId', 'in', ids)
    .execute()
  tx.count(accountId, INBOUND_COUNTER, '', -rows.length)
  await releaseContents(
    tx,
    rows.flatMap(({ contentId }) => (contentId === null ? [] : [contentId])),
  )
  const unusedFiles = await releaseBlobs(
    tx,
    rows.map(({ rawHash }) => blobName(rawHash)),
  )
  return { ids, more, unusedFiles }
}
