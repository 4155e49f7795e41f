/**
 * Limits how many messages wait long for DNS. Senders choose the names that are looked up, so a stranger can
 * have name servers that never answer. Without a limit, such messages would take all places of the messages
 * that are checked at the same time.
 *
 * In: the resolver and the checks of a message. Out: the resolver with which the checks are run. While few
 * messages wait long, it is the same.
 */
import type { Clock, Timer } from '../../../lib/clock.ts'
import type { Answer } from '../../../protocols/dns/answer.ts'
import { type BudgetedResolver, resolverAround } from './dns-budget.ts'

/**
 * Time for which any message may wait for its look-ups, all together. It exceeds the timeout of one name
 * server, so that the next one can answer.
 */
const WAIT_MS = 4_000
/** Messages that may wait longer at the same time. */
const LONG_WAITS_MAX = 32
const GIVEN_UP: Answer<never> = {
  kind: 'failure',
  reason: `the look-ups took more than ${WAIT_MS / 1_000} s, and too many messages waited for name servers`,
}

export interface LongDnsWaits {
  /**
   * Runs the checks of one message. If too many messages wait long, the look-ups of the one that has waited
   * longest fail.
   */
  limit<T>(resolver: BudgetedResolver, check: (limited: BudgetedResolver) => Promise<T>): Promise<T>
}

export function createLongDnsWaits(clock: Clock): LongDnsWaits {
  /** The one that has waited longest comes first. */
  const long = new Set<DnsWait>()
  const onLong = (wait: DnsWait) => {
    long.add(wait)
    if (long.size <= LONG_WAITS_MAX) return
    const [longest] = long
    long.delete(longest!)
    longest!.giveUp()
  }
  return {
    async limit(resolver, check) {
      const wait = new DnsWait(clock, onLong)
      try {
        return await check(resolverAround(resolver, ask => wait.during(ask)))
      } finally {
        wait.end()
        long.delete(wait)
      }
    },
  }
}

/** The look-ups of one message. Time counts while at least one is in progress. */
class DnsWait {
  readonly #clock: Clock
  readonly #onLong: (wait: DnsWait) => void
  readonly #givenUp = Promise.withResolvers<typeof GIVEN_UP>()
  #lookUpCount = 0
  #leftMs = WAIT_MS
  #since = 0
  #timer: Timer | undefined
  #isLong = false
  #isEnded = false

  constructor(clock: Clock, onLong: (wait: DnsWait) => void) {
    this.#clock = clock
    this.#onLong = onLong
  }

  async during<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
    if (this.#isEnded) return GIVEN_UP
    if (++this.#lookUpCount === 1) this.#begin()
    try {
      return await Promise.race([ask(), this.#givenUp.promise])
    } finally {
      if (--this.#lookUpCount === 0) this.#pause()
    }
  }

  giveUp(): void {
    this.end()
    this.#givenUp.resolve(GIVEN_UP)
  }

  end(): void {
    this.#isEnded = true
    this.#timer?.cancel()
  }

  #begin(): void {
    if (this.#isLong) return
    this.#since = this.#clock.monotonic()
    this.#timer = this.#clock.timer(Math.max(0, this.#leftMs), () => setImmediate(this.#onTimeOver))
  }

  /** Runs after answers that came in while the thread was busy have been read. */
  readonly #onTimeOver = () => {
    if (this.#isEnded) return
    this.#isLong = true
    this.#onLong(this)
  }

  #pause(): void {
    this.#timer?.cancel()
    if (!this.#isLong) this.#leftMs -= this.#clock.monotonic() - this.#since
  }
}
