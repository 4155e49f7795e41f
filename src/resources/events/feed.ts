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

export class EventFeed {
  readonly #options: EventFeedOptions
  /** Number of subscriptions by account. */
  readonly #subscriptions = new Map<string, number>()
  #looks = new Map<string, Promise<EventBatch>>()
  #next = Promise.withResolvers<void>()
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: EventFeedOptions) {
    this.#options = options
  }

  /**
   * Subscribes to events that are recorded from the result on, or after an event.
   * @throws TooManyWaiting if the account has too many subscriptions
   */
  async follow(accountId: Id, after: Id | undefined): Promise<Following> {
    // Read before the client learns that it is subscribed, so that it misses no event from then on.
    const begin = after ?? (await newestEvent(this.#options.db, accountId)) ?? firstIdAt(0)
    const key = idKey(accountId)
    this.#enter(key)
    let hasEnded = false
    return {
      batches: this.#batchesOf(accountId, begin, () => hasEnded || this.#isClosed),
      end: () => {
        if (!hasEnded) this.#leave(key)
        hasEnded = true
      },
    }
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#isClosed = true
    this.#tick()
  }

  async *#batchesOf(accountId: Id, after: Id, isOver: () => boolean): AsyncGenerator<EventBatch> {
    const { clock } = this.#options
    let seen = after
    for (let quietSince = clock.monotonic(); !isOver(); ) {
      const batch = await this.#readBatch(accountId, seen)
      seen = batch.at(-1)?.id ?? seen
      if (batch.length > 0 || clock.monotonic() - quietSince >= QUIET_MS) {
        yield batch
        quietSince = clock.monotonic()
      }
      if (batch.length < EVENTS_PER_BATCH_MAX && !isOver()) await this.#nextLook()
    }
  }

  /** Reads once per tick and cursor. */
  #readBatch(accountId: Id, after: Id): Promise<EventBatch> {
    const { db, find, clock, isShared } = this.#options
    const key = idKey(accountId) + idKey(after)
    const known = this.#looks.get(key)
    if (known) return known
    const until = isShared ? firstIdAt(clock.now() - SETTLED_AFTER_MS) : null
    const found = eventsAfter({ db, find }, accountId, after, { until, limit: EVENTS_PER_BATCH_MAX })
    this.#looks.set(key, found)
    return found
  }

  #nextLook(): Promise<void> {
    this.#timer ??= this.#options.clock.timer(POLL_INTERVAL_MS, () => this.#tick())
    return this.#next.promise
  }

  #tick(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#looks = new Map()
    const due = this.#next
    this.#next = Promise.withResolvers()
    due.resolve()
  }

  #enter(key: string): void {
    const count = this.#subscriptions.get(key) ?? 0
    if (count >= SUBSCRIPTIONS_MAX)
      throw new TooManyWaiting(`more than ${SUBSCRIPTIONS_MAX} watch the same events`)
    this.#subscriptions.set(key, count + 1)
  }

  #leave(key: string): void {
    const count = this.#subscriptions.get(key)! - 1
    if (count > 0) this.#subscriptions.set(key, count)
    else this.#subscriptions.delete(key)
  }
}
