/**
 * Quotas: recipients of accepted emails are counted by UTC day and month. The accepting transaction checks
 * and counts them, so that no race exceeds a quota. Cancelling an email does not restore the quota.
 */

import type { Id } from '../../lib/ids.ts'
import { utcDay, utcMonth } from '../../lib/periods.ts'
import type { Quota } from '../../resources/accounts/plans.ts'
import type { Tx } from '../../store/model/command.ts'
import { RECIPIENTS } from '../../store/model/schema/events.ts'
import type { Db } from '../../store/model/schema.ts'
import type { Refusal } from './refusal.ts'

interface Request {
  sender: { accountId: Id }
  now: number
  /** Null if the plan of the account has no limit. */
  quota: Quota | null
}

/** Takes the recipients of an email or of a whole batch from the quota of the account, all or none. */
export async function takeQuota(
  tx: Tx,
  { sender: { accountId }, now, quota }: Request,
  recipientCount: number,
): Promise<Refusal | undefined> {
  const [day, month] = [utcDay(now), utcMonth(now)]
  if (quota) {
    const isOver = async (limit: number | null, period: string) =>
      limit !== null && (await tx.counted(accountId, RECIPIENTS, period)) + recipientCount > limit
    if (await isOver(quota.monthly, month)) return usedUp('monthly', quota.monthly!)
    if (await isOver(quota.daily, day)) return usedUp('daily', quota.daily!)
  }
  tx.count(accountId, RECIPIENTS, day, recipientCount)
  tx.count(accountId, RECIPIENTS, month, recipientCount)
  return undefined
}

/**
 * Takes as many recipients as the quota has left, at most `recipientCount`.
 * @returns the number of recipients taken
 */
export async function takeRoom(tx: Tx, request: Request, recipientCount: number): Promise<number> {
  const {
    sender: { accountId },
    now,
    quota,
  } = request
  const roomIn = async (limit: number | null, period: string) =>
    limit === null ? recipientCount : Math.max(0, limit - (await tx.counted(accountId, RECIPIENTS, period)))
  const room = quota
    ? Math.min(await roomIn(quota.monthly, utcMonth(now)), await roomIn(quota.daily, utcDay(now)))
    : recipientCount
  const taken = Math.min(recipientCount, room)
  await takeQuota(tx, { ...request, quota: null }, taken)
  return taken
}

/** Reads how many recipients the quota has left, outside of a transaction; null if there is no limit. */
export async function readRoom(
  db: Db,
  { accountId, now, quota }: { accountId: Id; now: number; quota: Quota | null },
): Promise<number | null> {
  if (!quota) return null
  const periods = [
    [quota.monthly, utcMonth(now)],
    [quota.daily, utcDay(now)],
  ] as const
  const rows = await db
    .selectFrom('counters')
    .select(['period', 'count'])
    .where('accountId', '=', accountId)
    .where('kind', '=', RECIPIENTS)
    .where(
      'period',
      'in',
      periods.map(([, period]) => period),
    )
    .execute()
  const used = new Map(rows.map(({ period, count }) => [period, count]))
  const rooms = periods.flatMap(([limit, period]) =>
    limit === null ? [] : [Math.max(0, limit - (used.get(period) ?? 0))],
  )
  return rooms.length === 0 ? null : Math.min(...rooms)
}

function usedUp(period: 'daily' | 'monthly', limit: number): Refusal {
  const begins = period === 'daily' ? 'day' : 'month'
  return {
    refused: `${period}_quota`,
    message: `The ${period} quota of ${limit} recipients is exceeded. It resets at the start of the next ${begins} (UTC).`,
  }
}
