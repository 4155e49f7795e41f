/**
 * Minimum data rate of a message that is being received. A client must keep up a minimum rate, and a higher
 * one while the listener is busy.
 */

/** Minimum rate without load, measured over at least this window. */
const RELAXED = { windowMs: 60_000, bytesPerSecond: 1024 }
/** Minimum rate while the listener is busy. */
const BUSY = { windowMs: 10_000, bytesPerSecond: 4 * 1024 }
/** A message at this rate or above is never evicted. */
export const FAST_BYTES_PER_SECOND = 32 * 1024

interface TransferOptions {
  /** Network of the client, by `netblockOf`. */
  netblock: string
  /** True while the client waits for the server, for example for a disk write. */
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
  #busyAt: number
  #busyTotal = 0
  #previousAt: number
  #previousTotal = 0

  constructor(now: number, { netblock, isHeldUp, stop }: TransferOptions) {
    this.netblock = netblock
    this.isHeldUp = isHeldUp
    this.stop = stop
    this.#relaxedAt = now
    this.#busyAt = now
    this.#previousAt = now
  }

  /** Counts received bytes of the message. */
  add(bytes: number): void {
    this.#total += bytes
  }

  /** The rate over the last two windows of 10 s, or since the start. */
  bytesPerSecond(now: number): number {
    return rateOf(this.#total - this.#previousTotal, now - this.#previousAt)
  }

  /** To be called every few seconds. @returns whether the message is slower than the minimum rate */
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
    const busyMs = now - this.#busyAt
    if (busyMs >= BUSY.windowMs) {
      isSlow ||= isBusy && rateOf(this.#total - this.#busyTotal, busyMs) < BUSY.bytesPerSecond
      this.#previousAt = this.#busyAt
      this.#previousTotal = this.#busyTotal
      this.#busyAt = now
      this.#busyTotal = this.#total
    }
    return isSlow
  }

  /** Restarts the windows, so that time in which the client waited for the server does not count. */
  #restart(now: number): void {
    this.#relaxedAt = this.#busyAt = this.#previousAt = now
    this.#relaxedTotal = this.#busyTotal = this.#previousTotal = this.#total
  }
}

function rateOf(bytes: number, ms: number): number {
  return (bytes * 1_000) / Math.max(ms, 1)
}
