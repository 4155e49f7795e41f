/**
 * Counts who would get a broadcast if sending began now, with the conditions by which members are selected
 * (`begin.ts`) and skipped (`expand.ts`). Runs on the query worker.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import type { Quota } from '../../resources/accounts/plans.ts'
import {
  everybodyOf,
  type Membership,
  membershipOf,
  type SegmentFilter,
} from '../../resources/contacts/filters.ts'
import { memberChunks } from '../../resources/contacts/member-chunks.ts'
import { obstacleOf } from '../../resources/contacts/objections.ts'
import type { BroadcastRow, Db } from '../../store/model/schema.ts'
import { readRoom } from '../accept/quota.ts'

export interface ForecastQuestion {
  broadcast: Pick<BroadcastRow, 'accountId' | 'audienceId' | 'segmentId' | 'topicId'>
  /** Null if the plan of the account has no limit. */
  quota: Quota | null
}

/** Reasons for which a member would be skipped. */
export const FORECAST_REASONS = ['unsubscribed', 'opted_out', 'suppressed', 'quota'] as const

export interface RecipientForecast {
  /** Contacts of the audience or the segment. */
  memberCount: number
  recipientCount: number
  skipped: Record<(typeof FORECAST_REASONS)[number], number>
  /** False if the time was up before all members were counted; the numbers are lower bounds then. */
  isComplete: boolean
}

/** A million contacts take up to two seconds of CPU time. */
const COUNTING_MS_MAX = 10_000

/** @returns undefined if the segment has been deleted */
export async function forecastRecipients(
  db: Db,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  { broadcast, quota }: ForecastQuestion,
  size?: number,
): Promise<RecipientForecast | undefined> {
  const { accountId } = broadcast
  const membership = await membersOf(db, clock.now(), broadcast)
  if (!membership) return undefined
  const counts = new Map<string, number>()
  const isComplete = await countInChunks(db, clock, { membership, broadcast, counts, size })
  const of = (reason: string) => counts.get(reason) ?? 0
  const room = await readRoom(db, { accountId, now: clock.now(), quota })
  const recipientCount = Math.min(of('none'), room ?? Number.POSITIVE_INFINITY)
  return {
    memberCount: [...counts.values()].reduce((sum, count) => sum + count, 0),
    recipientCount,
    skipped: {
      unsubscribed: of('unsubscribed'),
      opted_out: of('opted_out'),
      suppressed: of('suppressed'),
      quota: of('none') - recipientCount,
    },
    isComplete,
  }
}

interface Counting {
  membership: Membership
  broadcast: ForecastQuestion['broadcast']
  /** Members by obstacle, which is filled. */
  counts: Map<string, number>
  /** Contacts per statement. */
  size: number | undefined
}

/** @returns whether all members were counted within the time */
async function countInChunks(
  db: Db,
  clock: Pick<Clock, 'monotonic'>,
  { membership, broadcast, counts, size }: Counting,
): Promise<boolean> {
  if (membership.isEmpty) return true
  const endsAt = clock.monotonic() + COUNTING_MS_MAX
  const obstacle = await obstacleOf(db, broadcast)
  const chunks = memberChunks(db, membership, 'asc', size)
  for (let from: Id | null = null; ; await turn()) {
    const to: Id | undefined = await chunks.endOf(from)
    for (const [reason, count] of await chunks.countBy({ from, to }, obstacle))
      counts.set(reason, (counts.get(reason) ?? 0) + count)
    if (!to) return true
    if (clock.monotonic() > endsAt) return false
    from = to
  }
}

async function membersOf(
  db: Db,
  now: number,
  { accountId, audienceId, segmentId }: ForecastQuestion['broadcast'],
): Promise<Membership | undefined> {
  if (segmentId === null) return everybodyOf(audienceId)
  const segment = await db
    .selectFrom('segments')
    .select('filters')
    .where('accountId', '=', accountId)
    .where('id', '=', segmentId)
    .executeTakeFirst()
  return segment && membershipOf(db, audienceId, JSON.parse(segment.filters) as SegmentFilter[], now)
}
