/**
 * Daily budget of a source address that is being warmed up. The writer grants messages in small numbers, so
 * that all threads together stay within the budget; when it is spent, the path is closed until the next UTC
 * day. A quarter of each day's budget is reserved for transactional mail.
 */
import type { Clock, Timer } from '../../../lib/clock.ts'
import { nextUtcDay, utcDay } from '../../../lib/periods.ts'
import type { Run } from '../../../store/model/command.ts'
import type { warmupCommands } from '../../queue/warmup-grants.ts'
import type { EgressSource } from './source-ips.ts'
import { type WarmupPlan, warmedProvider, warmupDay } from './warmup-plan.ts'

export interface WarmupBudget {
  /** Whether a message may start now. When not, `wake` is called once that may have changed. */
  allows(isTransactional: boolean): boolean
  /** Whether the budget of the day is spent. If so, `wake` is called on the next day. */
  isSpent(isTransactional: boolean): boolean
  /**
   * Takes a message from the budget. @returns a function to call at the end of the attempt; the message
   * returns to the budget when no host has answered
   */
  begin(isTransactional: boolean): (wasAnswered: boolean) => void
}

export interface WarmupBudgets {
  /**
   * @param wake called when more messages are granted, when the budget is spent, or when the next day begins
   */
  of(source: EgressSource, destination: string, wake: () => void): WarmupBudget
  /** Returns granted messages that were not used. */
  close(): Promise<void>
}

export interface WarmupSpent {
  address: string
  provider: string
  /** Messages that the class may send on the day. */
  cap: number
  /** Start of the next UTC day, in ms since the epoch. */
  until: number
}

interface WarmupBudgetsOptions {
  clock: Clock
  run: Run<typeof warmupCommands>
  plan: WarmupPlan
  /** Called when the budget of the day is spent. */
  onSpent(spent: WarmupSpent): void
  onError(error: unknown): void
}

const BULK_SHARE = 0.75
/** Share of the day's messages that is granted at a time. */
const GRANT_SHARE = 0.02
const GRANT_MESSAGES_MAX = 100
/** The wall clock may jump, so a longer wait is split into steps of this length. */
const SLEEP_MS_MAX = 600_000
const RETRY_MS = 1_000

export const UNBOUNDED: WarmupBudget = { allows: () => true, isSpent: () => false, begin: () => () => {} }

export function createWarmupBudgets(options: WarmupBudgetsOptions): WarmupBudgets {
  const { plan, clock } = options
  const pools = new Map<string, Pool>()

  const poolOf = (address: string, provider: string, isTransactional: boolean): Pool => {
    const key = `${address} ${provider} ${isTransactional}`
    const known = pools.get(key)
    if (known) return known
    const pool = new Pool(options, address, provider, isTransactional ? 1 : BULK_SHARE)
    pools.set(key, pool)
    return pool
  }

  return {
    of({ ips }, destination, wake) {
      const provider = warmedProvider(destination)
      const warming = ips.filter(({ address }) => warmupDay(plan, address, clock.now()))
      if (provider === undefined || warming.length === 0) return UNBOUNDED
      const pair = (isTransactional: boolean) =>
        warming.map(({ address }) => poolOf(address, provider, isTransactional))
      const [forAll, forTransactional] = [pair(false), pair(true)]
      const of = (isTransactional: boolean) => (isTransactional ? forTransactional : forAll)
      // messages that transactional mail has used are spent for every class, whether it has asked or not
      const isSpentForAll = (pool: Pool, i: number) =>
        pool.isSpent(destination, wake) || (pool.isEmpty() && forTransactional[i]!.isSpent(destination, wake))
      return {
        allows: isTransactional => of(isTransactional).every(pool => pool.allows(destination, wake)),
        isSpent: isTransactional =>
          isTransactional
            ? forTransactional.some(pool => pool.isSpent(destination, wake))
            : forAll.some(isSpentForAll),
        begin(isTransactional) {
          const begun = of(isTransactional).map(pool => pool.begin())
          return wasAnswered => {
            for (const end of begun) end(wasAnswered)
          }
        },
      }
    },
    async close() {
      await Promise.all([...pools.values()].map(pool => pool.close()))
    },
  }
}

/** Messages granted to one address for one provider, shared by the paths of this thread. */
class Pool {
  readonly #options: WarmupBudgetsOptions
  readonly #address: string
  readonly #provider: string
  /** Share of the day's messages that the class of mail may use. */
  readonly #share: number
  readonly #waiting = new Map<string, () => void>()
  #day: string
  #left = 0
  #isDry = false
  #isAsking = false
  #isClosed = false
  #timer: Timer | undefined

  constructor(options: WarmupBudgetsOptions, address: string, provider: string, share: number) {
    this.#options = options
    this.#address = address
    this.#provider = provider
    this.#share = share
    this.#day = utcDay(options.clock.now())
  }

  /**
   * Whether a message may start now.
   * @param wake called when messages may start again, if none may now; the last one given for a destination
   * counts
   */
  allows(destination: string, wake: () => void): boolean {
    this.#turnDay()
    const cap = this.#cap()
    if (cap === undefined || this.#left > 0) return true
    this.#waiting.set(destination, wake)
    if (this.#isDry || this.#isAsking || this.#isClosed) return false
    this.#ask(cap).then(
      () => this.#wakeAll(),
      error => {
        this.#options.onError(error)
        this.#sleep(RETRY_MS)
      },
    )
    return false
  }

  /** Whether no granted message is left. */
  isEmpty(): boolean {
    return this.#left <= 0
  }

  /** Whether the budget of the day is spent. @param wake called on the next day, if so */
  isSpent(destination: string, wake: () => void): boolean {
    this.#turnDay()
    const isSpent = this.#isDry && this.#left === 0
    if (isSpent) this.#waiting.set(destination, wake)
    return isSpent
  }

  /** Takes a granted message. @returns a function that gives it back if no host answered */
  begin(): (wasAnswered: boolean) => void {
    const begunOn = this.#day
    if (this.#cap() === undefined) return () => {}
    this.#left--
    return wasAnswered => {
      if (wasAnswered || begunOn !== this.#day) return
      this.#left++
      this.#wakeAll()
    }
  }

  /** Returns granted messages that were not used. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    if (this.isEmpty()) return
    const unused = { address: this.#address, provider: this.#provider, day: this.#day, count: this.#left }
    await this.#options.run('returnWarmup', unused)
  }

  async #ask(cap: number): Promise<void> {
    const { run, clock, onSpent } = this.#options
    const [address, provider, day] = [this.#address, this.#provider, this.#day]
    const wanted = Math.min(GRANT_MESSAGES_MAX, Math.ceil(cap * GRANT_SHARE))
    const max = Math.ceil(cap * this.#share)
    this.#isAsking = true
    const granted = await run('grantWarmup', { address, provider, day, max, wanted }).finally(() => {
      this.#isAsking = false
    })
    if (day !== this.#day) return
    this.#left += granted
    if (granted > 0) return
    this.#isDry = true
    const until = nextUtcDay(clock.now())
    onSpent({ address, provider, cap: max, until })
    this.#sleep(until - clock.now())
  }

  #cap(): number | undefined {
    const { plan, clock } = this.#options
    return warmupDay(plan, this.#address, clock.now())?.cap
  }

  #sleep(ms: number): void {
    this.#timer?.cancel()
    this.#timer = this.#isClosed
      ? undefined
      : this.#options.clock.timer(Math.min(ms, SLEEP_MS_MAX), () => this.#awake())
  }

  #awake(): void {
    this.#turnDay()
    const now = this.#options.clock.now()
    if (this.#isDry) this.#sleep(nextUtcDay(now) - now)
    else this.#wakeAll()
  }

  #turnDay(): void {
    const today = utcDay(this.#options.clock.now())
    if (today === this.#day) return
    this.#day = today
    this.#left = 0
    this.#isDry = false
  }

  #wakeAll(): void {
    const wakes = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const wake of wakes) wake()
  }
}
