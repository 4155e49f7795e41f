/**
 * Timer of a session. The deadline is set for every reply, but the timer is started again only when it would
 * fire too late. Data that has arrived is read before the deadline expires, because after a pause of the
 * process both the timer and the reply are pending.
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

  /** Sets the deadline to `ms` from now, in place of the previous one. */
  set(ms: number) {
    this.#at = this.#clock.monotonic() + ms
    if (this.#at < this.#armedFor) this.#arm(ms)
  }

  /** Removes the deadline. The timer may still run, without effect. */
  clear() {
    this.#at = Infinity
  }

  /** Removes the deadline and stops the timer. */
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
