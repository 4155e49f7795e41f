/**
 * The queue for people who look often: a short one is looked through each time, a long one every ten seconds
 * at most, in the background, and questions are answered from what was seen last.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Db } from '../../store/schema.ts'
import { type QueueQuestion, type QueueSnapshot, type QueueView, queueViewOf, readQueue } from './view.ts'

type QueueStats = (question: QueueQuestion) => Promise<QueueView>

interface QueueViewerOptions {
  db: Db
  clock: Clock
  onError(error: unknown): void
  /** Deliveries from which on the queue is long. */
  longFrom?: number
}

const LONG_QUEUE_DELIVERIES_MIN = 20_000
/** Younger ones are good as they are. */
const FRESH_MS_MAX = 10_000
/** Older ones are of no use while a new one is read. */
const USABLE_MS_MAX = 60_000
/** Of the time, that is spent looking. */
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
  /** Who comes while one is read gets the same, where the queue is long. */
  const readTogether = (now: number) => {
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
      const next = readTogether(now)
      if (ageMs > Math.max(USABLE_MS_MAX, tookMs * READ_INTERVAL_FACTOR_MIN * 2)) return next
      next.catch(onError)
    }
    return snapshot
  }

  return async question => queueViewOf(db, await snapshotFor(question.now), question)
}
