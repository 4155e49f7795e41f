/**
 * Caches queue statistics. A short queue is read for each request. A long queue is read at most every ten
 * seconds in the background, and requests are answered from the last snapshot.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Db } from '../../store/model/schema.ts'
import { type QueueQuestion, type QueueSnapshot, type QueueView, queueViewOf, readQueue } from './view.ts'

type QueueStats = (question: QueueQuestion) => Promise<QueueView>

interface QueueViewerOptions {
  db: Db
  clock: Clock
  onError(error: unknown): void
  /** Number of deliveries from which the queue counts as long. */
  longFrom?: number
}

const LONG_QUEUE_DELIVERIES_MIN = 20_000
/** A snapshot up to this age is returned without a new read. */
const FRESH_MS_MAX = 10_000
/** A request waits for a new read if the snapshot is older than this. */
const USABLE_MS_MAX = 60_000
/** Two reads are apart by at least this multiple of the duration of a read. */
const READ_INTERVAL_FACTOR_MIN = 10

export function createQueueStatsCache({
  db,
  clock,
  onError,
  longFrom = LONG_QUEUE_DELIVERIES_MIN,
}: QueueViewerOptions): QueueStats {
  let last: { snapshot: QueueSnapshot; readAt: number; tookMs: number } | undefined
  let reading: Promise<QueueSnapshot> | undefined

  const read = async (now: number) => {
    const begunAt = clock.monotonic()
    const snapshot = await readQueue(db, now, null)
    const readAt = clock.monotonic()
    last = snapshot.count < longFrom ? undefined : { snapshot, readAt, tookMs: readAt - begunAt }
    return snapshot
  }
  /** Requests that arrive during a read share its result. */
  const readShared = (now: number) => {
    reading ??= read(now).finally(() => {
      reading = undefined
    })
    return reading
  }
  const snapshotFor = async (now: number): Promise<QueueSnapshot> => {
    if (!last) return read(now)
    const { snapshot, readAt, tookMs } = last
    const ageMs = clock.monotonic() - readAt
    if (ageMs > Math.max(FRESH_MS_MAX, tookMs * READ_INTERVAL_FACTOR_MIN)) {
      const next = readShared(now)
      if (ageMs > Math.max(USABLE_MS_MAX, tookMs * READ_INTERVAL_FACTOR_MIN * 2)) return next
      next.catch(onError)
    }
    return snapshot
  }

  return async question => queueViewOf(db, await snapshotFor(question.now), question)
}
