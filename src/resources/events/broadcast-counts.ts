/**
 * Totals of a broadcast that outlive its emails: emails per status, opens, clicks, unsubscribes and skipped
 * members. They are updated in the transaction of the counted change.
 */
import { type Id, idText } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import { type Db, EMAIL_STATUSES, SKIP_REASONS } from '../../store/model/schema.ts'

const REACTIONS = ['opened', 'unique_opened', 'clicked', 'unique_clicked', 'unsubscribed'] as const

const COUNTED = [
  ...EMAIL_STATUSES.map(status => `status.${status}` as const),
  ...REACTIONS.map(reaction => `reaction.${reaction}` as const),
  ...SKIP_REASONS.map(reason => `skipped.${reason}` as const),
]
type BroadcastCount = (typeof COUNTED)[number]
export type BroadcastCounts = Readonly<Record<BroadcastCount, number>>

export interface BroadcastRef {
  accountId: Id
  /** Null for an email without a broadcast, which is not counted. */
  broadcastId: Id | null
}

/** Is called in a transaction. */
export function countForBroadcast(
  tx: Tx,
  { accountId, broadcastId }: BroadcastRef,
  what: BroadcastCount,
  delta: number,
): void {
  if (broadcastId && delta !== 0) tx.count(accountId, kindOf(broadcastId, what), '', delta)
}

/** Reads a total within the transaction. */
export function countedForBroadcast(
  tx: Tx,
  { accountId, broadcastId }: { accountId: Id; broadcastId: Id },
  what: BroadcastCount,
): Promise<number> {
  return tx.counted(accountId, kindOf(broadcastId, what), '')
}

/** Reads all totals; a total that was never counted is 0. */
export async function readBroadcastCounts(
  db: Db,
  { accountId, broadcastId }: { accountId: Id; broadcastId: Id },
): Promise<BroadcastCounts> {
  const rows = await db
    .selectFrom('counters')
    .select(['kind', 'count'])
    .where('accountId', '=', accountId)
    .where(
      'kind',
      'in',
      COUNTED.map(what => kindOf(broadcastId, what)),
    )
    .where('period', '=', '')
    .execute()
  const counts = new Map(rows.map(({ kind, count }) => [kind, count]))
  return Object.fromEntries(
    COUNTED.map(what => [what, counts.get(kindOf(broadcastId, what)) ?? 0]),
  ) as BroadcastCounts
}

function kindOf(broadcastId: Id, what: BroadcastCount): string {
  return `broadcast ${idText(broadcastId)} ${what}`
}
