/**
 * The one timer of a session: set for every reply, yet armed anew only where it would fire too late. What has
 * arrived is read before silence is believed: a process that has stood still finds its time over, and the
 * reply of then unread.
 */
import type { Clock, Timer } from '../../../lib/clock.ts'

export class Deadline {
  readonly #clock: Clock
  readonly #onExpiry: () => void
  #at = Infinity
  #armedFor = Infinity
  #timer: Timer | undefined

  constructor(clock: Clock, onExpiry: () => void) {
    this.#clock = clock
    this.#onExpiry = onExpiry
  }

  /** Expires `ms` from now, unless it is set again or cleared before. */
  set(ms: number) {
    this.#at = this.#clock.monotonic() + ms
    if (this.#at < this.#armedFor) this.#arm(ms)
  }

  /** Expires no more. The timer may still run, to no effect. */
  clear() {
    this.#at = Infinity
  }

  /** Clears, and stops the timer too. */
  cancel() {
    this.#at = Infinity
    this.#armedFor = Infinity
    this.#timer?.cancel()
  }

  #arm(ms: number) {
    this.#timer?.cancel()
    this.#armedFor = this.#at
    this.#timer = this.#clock.timer(ms, () => {
      this.#armedFor = Infinity
      if (this.#at === Infinity) return
      const leftMs = this.#at - this.#clock.monotonic()
      if (leftMs > 0) return this.#arm(leftMs)
      const at = this.#at
      setImmediate(() => {
        if (this.#at !== at) return
        this.#at = Infinity
        this.#onExpiry()
      })
    })
  }
}
