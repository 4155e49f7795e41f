/**
 * Streams the events of an account to its subscribers. The feed polls the events only while someone
 * subscribes, so recording an event costs nothing extra
 * ([why](../../docs/decisions/0054-event-stream-by-polling-with-a-cursor.md)).
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import { firstIdAt, type Id, idKey } from '../../lib/ids.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import type { Db, EventRow } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import { eventsAfter, newestEvent } from '../emails/event-rows.ts'

/** Consecutive events. Subscribers with the same cursor get the same object. */
export type EventBatch = readonly EventRow[]

export interface Following {
  /** Never ends. A batch is empty if there was no event for `QUIET_MS`. */
  batches: AsyncIterable<EventBatch>
  /** Ends the subscription. */
  end(): void
}

export interface EventFeed {
  /**
   * Subscribes to events that are recorded from the result on, or after an event.
   * @throws TooManyWaiting if the account has too many subscriptions
   */
  follow(accountId: Id, after: Id | undefined): Promise<Following>
  /** Ends all subscriptions. */
  close(): void
}

interface EventFeedOptions {
  db: Db
  find: Find
  clock: Clock
  /**
   * True if other processes record events, too. An event that they commit may have an older id than one
   * already seen.
   */
  isShared: boolean
}

const POLL_INTERVAL_MS = 500
const QUIET_MS = 15_000
const EVENTS_PER_BATCH_MAX = 200
const SUBSCRIPTIONS_MAX = 50
/** Other processes have committed their events after this time. */
const SETTLED_AFTER_MS = 2_000

export function createEventFeed({ db, find, clock, isShared }: EventFeedOptions): EventFeed {
  const subscriptions = new Map<string, number>()
  let looks = new Map<string, Promise<EventBatch>>()
  let next = Promise.withResolvers<void>()
  let timer: Timer | undefined
  let isClosed = false

  const tick = () => {
    timer?.cancel()
    timer = undefined
    looks = new Map()
    const due = next
    next = Promise.withResolvers()
    due.resolve()
  }
  const nextLook = () => {
    timer ??= clock.timer(POLL_INTERVAL_MS, tick)
    return next.promise
  }
  /** Reads once per tick and cursor. */
  const look = (accountId: Id, after: Id) => {
    const key = idKey(accountId) + idKey(after)
    const known = looks.get(key)
    if (known) return known
    const until = isShared ? firstIdAt(clock.now() - SETTLED_AFTER_MS) : null
    const found = eventsAfter({ db, find }, accountId, after, { until, limit: EVENTS_PER_BATCH_MAX })
    looks.set(key, found)
    return found
  }
  const enter = (key: string) => {
    const count = subscriptions.get(key) ?? 0
    if (count >= SUBSCRIPTIONS_MAX)
      throw new TooManyWaiting(`more than ${SUBSCRIPTIONS_MAX} watch the same events`)
    subscriptions.set(key, count + 1)
  }
  const leave = (key: string) => {
    const count = subscriptions.get(key)! - 1
    if (count > 0) subscriptions.set(key, count)
    else subscriptions.delete(key)
  }

  async function* batchesOf(accountId: Id, after: Id, isOver: () => boolean): AsyncGenerator<EventBatch> {
    let seen = after
    for (let quietSince = clock.monotonic(); !isOver(); ) {
      const batch = await look(accountId, seen)
      seen = batch.at(-1)?.id ?? seen
      if (batch.length > 0 || clock.monotonic() - quietSince >= QUIET_MS) {
        yield batch
        quietSince = clock.monotonic()
      }
      if (batch.length < EVENTS_PER_BATCH_MAX && !isOver()) await nextLook()
    }
  }

  return {
    async follow(accountId, after) {
      // Read before the client learns that it is subscribed, so that it misses no event from then on.
      const begin = after ?? (await newestEvent(db, accountId)) ?? firstIdAt(0)
      const key = idKey(accountId)
      enter(key)
      let hasEnded = false
      return {
        batches: batchesOf(accountId, begin, () => hasEnded || isClosed),
        end() {
          if (!hasEnded) leave(key)
          hasEnded = true
        },
      }
    },
    close() {
      isClosed = true
      tick()
    },
  }
}
