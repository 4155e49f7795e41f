/**
 * The events of an account as they are recorded, for whoever watches. They are looked for while somebody
 * does, so that recording them costs nothing more
 * ([why](../../docs/decisions/0054-event-stream-by-polling-with-a-cursor.md)).
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import { firstIdAt, type Id, idKey } from '../../lib/ids.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import type { Find } from '../../store/read.ts'
import type { Db, EventRow } from '../../store/schema.ts'
import { eventsAfter, newestEvent } from '../emails/event-rows.ts'

/** Recorded one after the other; those who have seen the same get the same object. */
export type EventBatch = readonly EventRow[]

export interface Following {
  /** Without end; an empty one when nothing came for a while. */
  batches: AsyncIterable<EventBatch>
  /** Nobody reads them any more. */
  end(): void
}

export interface EventFeed {
  /**
   * What is recorded from now on, or was after an event.
   * @throws TooManyWaiting when the account watches often enough
   */
  follow(accountId: Id, after: Id | undefined): Following
  /** Ends all that is followed. */
  close(): void
}

interface EventFeedOptions {
  db: Db
  find: Find
  clock: Clock
  /** Other processes record, too: what they commit may have an older id than what has been seen. */
  isShared: boolean
}

const LOOK_EVERY_MS = 500
const QUIET_MS = 15_000
const EVENTS_PER_BATCH_MAX = 200
const FOLLOWERS_MAX = 50
/** What another process records is committed by then. */
const SETTLED_AFTER_MS = 2_000

export function createEventFeed({ db, find, clock, isShared }: EventFeedOptions): EventFeed {
  const followers = new Map<string, number>()
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
    timer ??= clock.timer(LOOK_EVERY_MS, tick)
    return next.promise
  }
  /** Once a tick for all who have seen the same. */
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
    const count = followers.get(key) ?? 0
    if (count >= FOLLOWERS_MAX) throw new TooManyWaiting(`more than ${FOLLOWERS_MAX} watch the same events`)
    followers.set(key, count + 1)
  }
  const leave = (key: string) => {
    const count = followers.get(key)! - 1
    if (count > 0) followers.set(key, count)
    else followers.delete(key)
  }

  async function* batchesOf(
    accountId: Id,
    after: Id | undefined,
    isOver: () => boolean,
  ): AsyncGenerator<EventBatch> {
    let seen = after ?? (await newestEvent(db, accountId)) ?? firstIdAt(0)
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
    follow(accountId, after) {
      const key = idKey(accountId)
      enter(key)
      let hasEnded = false
      return {
        batches: batchesOf(accountId, after, () => hasEnded || isClosed),
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
