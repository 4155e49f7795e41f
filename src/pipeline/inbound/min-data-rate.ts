/**
 * Minimum data rate of a message that is being received. A client must keep up a minimum rate, and a higher
 * one while the listener is busy.
 */

/** The minimum while there is room. It is judged over at least this time. */
const RELAXED = { windowMs: 60_000, bytesPerSecond: 1024 }
/** The minimum while the listener is crowded. */
const CROWDED = { windowMs: 10_000, bytesPerSecond: 4 * 1024 }
/** A message at this rate or above is never ended to make room for a faster one. */
export const FAST_BYTES_PER_SECOND = 32 * 1024

interface TransferOptions {
  /** Of the client, by `netblockOf`. */
  netblock: string
  /** True while the client waits for us, for example until a block is on the disk. */
  isHeldUp(): boolean
  /** Ends the connection with a 421 reply. */
  stop(text: string): void
}

/** Times are in monotonic ms. */
export class MinDataRate {
  readonly netblock: string
  readonly isHeldUp: () => boolean
  readonly stop: (text: string) => void
  #total = 0
  /** Windows: their start, and the total at their start. */
  #relaxedAt: number
  #relaxedTotal = 0
  #crowdedAt: number
  #crowdedTotal = 0
  #previousAt: number
  #previousTotal = 0

  constructor(now: number, { netblock, isHeldUp, stop }: TransferOptions) {
    this.netblock = netblock
    this.isHeldUp = isHeldUp
    this.stop = stop
    this.#relaxedAt = now
    this.#crowdedAt = now
    this.#previousAt = now
  }

  /** Counts bytes of the message that have come in. */
  add(bytes: number): void {
    this.#total += bytes
  }

  /** The rate over the last two windows of 10 s, or since the start. */
  bytesPerSecond(now: number): number {
    return rateOf(this.#total - this.#previousTotal, now - this.#previousAt)
  }

  /** To be called every few seconds: whether the message came in more slowly than it must. */
  isTooSlow(now: number, isBusy: boolean): boolean {
    if (this.isHeldUp()) {
      this.#restart(now)
      return false
    }
    let isSlow = false
    const relaxedMs = now - this.#relaxedAt
    if (relaxedMs >= RELAXED.windowMs) {
      isSlow = rateOf(this.#total - this.#relaxedTotal, relaxedMs) < RELAXED.bytesPerSecond
      this.#relaxedAt = now
      this.#relaxedTotal = this.#total
    }
    const busyMs = now - this.#crowdedAt
    if (busyMs >= CROWDED.windowMs) {
      isSlow ||= isBusy && rateOf(this.#total - this.#crowdedTotal, busyMs) < CROWDED.bytesPerSecond
      this.#previousAt = this.#crowdedAt
      this.#previousTotal = this.#crowdedTotal
      this.#crowdedAt = now
      this.#crowdedTotal = this.#total
    }
    return isSlow
  }

  /** Time in which the client waited for us does not count. */
  #restart(now: number): void {
    this.#relaxedAt = this.#crowdedAt = this.#previousAt = now
    this.#relaxedTotal = this.#crowdedTotal = this.#previousTotal = this.#total
  }
}

function rateOf(bytes: number, ms: number): number {
  return (bytes * 1_000) / Math.max(ms, 1)
}
