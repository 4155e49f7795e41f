/**
 * Memory for large request bodies and submitted messages. All listeners share one budget, so that together
 * they do not need more than the machine has. Input without room waits, fairly by owner and for a bounded
 * time; then its client is told to try again.
 */
import { type Clock, every, type Timer } from './clock.ts'
import { FairSemaphore } from './fair-semaphore.ts'
import { TooManyWaiting } from './semaphore.ts'

/** Smaller input is not counted. Its memory is bounded by the number of connections. */
export const UNCOUNTED_BYTES = 128 * 1024
const OWNER_SHARE = 0.5
const WAITING = { max: 200, maxPerOwner: 50 }
const WAIT_MS_MAX = 30_000
/** Time after which a client that was refused may come back. */
export const RETRY_AFTER_SECONDS = 5
/**
 * Input may hold its memory for this time. After that it must arrive at a rate that completes it within the
 * limit that the door sets.
 */
const GRACE_MS = 30_000
const LOOK_EVERY_MS = 10_000

/** Memory that is held for one body or message. */
export class Reservation {
  readonly sizeBytes: number
  readonly #clock: Clock
  readonly #leave: () => void
  #watch: Timer | undefined

  constructor(sizeBytes: number, clock: Clock, leave: () => void) {
    this.sizeBytes = sizeBytes
    this.#clock = clock
    this.#leave = leave
  }

  /**
   * Watches that the memory is filled, until `arrived` or `release`.
   * @param received bytes of it that have arrived
   * @param onLate called when they arrive too slowly for the memory that they hold
   */
  watch(limitMs: number, received: () => number, onLate: () => void): void {
    const since = this.#clock.monotonic()
    this.#watch = every(this.#clock, LOOK_EVERY_MS, () => {
      const heldMs = this.#clock.monotonic() - since
      if (received() < (this.sizeBytes * (heldMs - GRACE_MS)) / limitMs) onLate()
    })
  }

  /** All of it has arrived. */
  arrived(): void {
    this.#watch?.cancel()
  }

  release(): void {
    this.arrived()
    this.#leave()
  }
}

export class MemoryBudget {
  /** The most that one owner may hold, and so the largest input that is taken. */
  readonly ownerBytesMax: number
  readonly #room: FairSemaphore
  readonly #maxBytes: number
  readonly #clock: Clock

  /** @param ownerBytesMin what one owner may hold in any case: no larger input fits into a smaller share */
  constructor(maxBytes: number, clock: Clock, ownerBytesMin = 0) {
    this.#maxBytes = maxBytes
    this.ownerBytesMax = Math.min(maxBytes, Math.max(ownerBytesMin, Math.floor(maxBytes * OWNER_SHARE)))
    this.#room = new FairSemaphore(maxBytes, this.ownerBytesMax, WAITING)
    this.#clock = clock
  }

  get takenBytes(): number {
    return this.#room.taken
  }

  /** Whether more than half of the memory is in use. */
  isCrowded(): boolean {
    return this.takenBytes > this.#maxBytes / 2
  }

  /** Inputs that wait for memory. */
  get waitingCount(): number {
    return this.#room.waitingCount
  }

  /**
   * Waits for memory.
   * @param owner account, or network of a client of the relay
   * @param isMore whether the input holds memory already and needs more; it then comes before all others
   * @throws TooManyWaiting, also when the wait has been too long
   */
  async take(owner: string, bytes: number, isMore = false): Promise<Reservation> {
    const waiting = new AbortController()
    const timer = this.#clock.timer(WAIT_MS_MAX, () =>
      waiting.abort(new TooManyWaiting('no memory was free')),
    )
    try {
      const leave = await this.#room.take(owner, bytes, waiting.signal, isMore)
      return new Reservation(bytes, this.#clock, leave)
    } finally {
      timer.cancel()
    }
  }
}
