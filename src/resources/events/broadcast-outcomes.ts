/**
 * Stores who was skipped by a broadcast, and who unsubscribed by it, beside the totals of
 * `broadcast-counts.ts`: no email tells. Rows are deleted after the retention of their account's plan, and
 * when their broadcast has been deleted.
 *
 * Called by `pipeline/broadcasts` and `pipeline/tracking` in the transaction of the outcome. Read by
 * `pipeline/broadcasts/broadcast-recipients.ts`.
 */
import { sql } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { SkipReason } from '../../store/model/schema.ts'
import { type BroadcastRef, countForBroadcast } from './broadcast-counts.ts'

/** A member who gets no email. */
export interface SkippedMember {
  /** Address in lower case; null when the contact has been deleted. */
  email: string | null
  reason: SkipReason
}

/** Is called in a transaction. */
export async function recordSkipped(
  tx: Tx,
  { accountId, broadcastId }: { accountId: Id; broadcastId: Id },
  members: readonly SkippedMember[],
  at: number,
): Promise<void> {
  const rows = members.map(({ email, reason: skipReason }) => {
    countForBroadcast(tx, { accountId, broadcastId }, `skipped.${skipReason}`, 1)
    return { accountId, broadcastId, id: tx.newId(at), email, skipReason }
  })
  await tx.rows.insert('broadcastOutcomes', rows)
}

/**
 * Is called in a transaction. An address counts once for a broadcast, however often it returns and leaves
 * again. A deleted broadcast counts nothing.
 */
export async function recordUnsubscribed(
  tx: Tx,
  { accountId, broadcastId, address: email }: BroadcastRef & { address: string },
  at: number,
): Promise<void> {
  if (!broadcastId) return
  const [broadcast] = await tx.rows.find('broadcasts', [{ accountId, id: broadcastId }], ['id'])
  if (!broadcast) return
  const known = await tx.db
    .selectFrom('broadcastOutcomes')
    .select('id')
    .where('accountId', '=', accountId)
    .where('broadcastId', '=', broadcastId)
    .where('email', '=', email)
    // as in the condition of the index
    .where(sql<boolean>`skip_reason is null`)
    .executeTakeFirst()
  if (known) return
  countForBroadcast(tx, { accountId, broadcastId }, 'reaction.unsubscribed', 1)
  await tx.rows.insert('broadcastOutcomes', [
    { accountId, broadcastId, id: tx.newId(at), email, skipReason: null },
  ])
}

export const broadcastOutcomeCommands = {
  /**
   * Deletes outcomes of a broadcast with lower ids than `before`, oldest first, at most `limit`.
   * @param before null for all
   * @returns the number of deleted outcomes
   */
  forgetOutcomes: command<{ accountId: Id; broadcastId: Id; before: Id | null; limit: number }, number>(
    async ({ db }, { accountId, broadcastId, before, limit }) => {
      let old = db
        .selectFrom('broadcastOutcomes')
        .select('id')
        .where('accountId', '=', accountId)
        .where('broadcastId', '=', broadcastId)
      if (before) old = old.where('id', '<', before)
      const found = await old.orderBy('id').limit(limit).execute()
      const last = found.at(-1)
      if (!last) return 0
      await db
        .deleteFrom('broadcastOutcomes')
        .where('accountId', '=', accountId)
        .where('broadcastId', '=', broadcastId)
        .where('id', '<=', last.id)
        .execute()
      return found.length
    },
  ),
}
