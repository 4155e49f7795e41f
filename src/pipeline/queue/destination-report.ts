/** Reports the results of a day by destination, with the most frequent replies and the current pauses. */
import type { BounceClass } from '../../protocols/bounces/rules/bounce-class.ts'
import type { DestinationReplyRow } from '../../store/model/schema/steering.ts'
import type { Db } from '../../store/model/schema.ts'
import { listPausedDestinations } from './destination-states.ts'
import { DESTINATION_KINDS, type DestinationResult, NOBODY, parseDestinationKind } from './destinations.ts'

export interface DestinationQuestion {
  /** UTC day, such as `2026-11-21`. */
  day: string
  /** Restricts the report to one destination; null for all. */
  destination: string | null
  /** Whether only destinations that are paused now are reported. */
  isPaused?: boolean
  /** Time at which a pause must still be in force to be reported, in ms since the epoch. */
  now: number
  limit: number
  offset: number
}

export interface DestinationEntry {
  destination: string
  counts: Record<DestinationResult, number>
  /** Numbers of deferrals and bounces by bounce class. */
  deferredBy: Partial<Record<BounceClass, number>>
  bouncedBy: Partial<Record<BounceClass, number>>
  /** Null while the destination is not paused. */
  pause: { until: number; reason: string } | null
  /** Sorted by frequency, the most frequent first. */
  replies: DestinationReplyRow[]
}

export interface DestinationReport {
  total: number
  /** Sorted by the number of results, the most first. */
  entries: DestinationEntry[]
}

export async function reportDestinations(db: Db, question: DestinationQuestion): Promise<DestinationReport> {
  const { day, destination, isPaused = false, now, limit, offset } = question
  const entries = await countedOn(db, day)
  const paused = await listPausedDestinations(db, now)
  // of several paused source addresses, the earliest to be tried again counts
  for (const { destination: name, pausedUntil: until, reason } of paused.sort(
    (a, b) => b.pausedUntil - a.pausedUntil,
  ))
    entryIn(entries, name).pause = { until, reason }
  const wanted = [...entries.values()]
    .filter(
      entry => (destination === null || entry.destination === destination) && (!isPaused || entry.pause),
    )
    .sort((a, b) => sumOf(b) - sumOf(a) || (a.destination < b.destination ? -1 : 1))
  const page = wanted.slice(offset, offset + limit)
  await addReplies(db, day, page)
  return { total: wanted.length, entries: page }
}

async function countedOn(db: Db, day: string): Promise<Map<string, DestinationEntry>> {
  const counters = await db
    .selectFrom('counters')
    .select(['kind', 'count'])
    .where('accountId', '=', NOBODY)
    .where('kind', 'like', DESTINATION_KINDS)
    .where('period', '=', day)
    .execute()
  const entries = new Map<string, DestinationEntry>()
  for (const { kind, count } of counters) {
    const counted = parseDestinationKind(kind)
    if (!counted) continue
    const { destination, result, class: why } = counted
    const entry = entryIn(entries, destination)
    entry.counts[result] += count
    const by = result === 'deferred' ? entry.deferredBy : result === 'bounced' ? entry.bouncedBy : undefined
    if (by && why) by[why] = (by[why] ?? 0) + count
  }
  return entries
}

async function addReplies(db: Db, day: string, page: readonly DestinationEntry[]): Promise<void> {
  if (page.length === 0) return
  const rows = await db
    .selectFrom('destinationReplies')
    .selectAll()
    .where('day', '=', day)
    .where(
      'destination',
      'in',
      page.map(({ destination }) => destination),
    )
    .execute()
  for (const entry of page)
    entry.replies = rows
      .filter(({ destination }) => destination === entry.destination)
      .sort((a, b) => b.count - a.count)
}

function entryIn(entries: Map<string, DestinationEntry>, destination: string): DestinationEntry {
  const known = entries.get(destination)
  if (known) return known
  const counts = { delivered: 0, deferred: 0, bounced: 0, expired: 0 }
  const fresh = { destination, counts, deferredBy: {}, bouncedBy: {}, pause: null, replies: [] }
  entries.set(destination, fresh)
  return fresh
}

function sumOf({ counts }: DestinationEntry): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
