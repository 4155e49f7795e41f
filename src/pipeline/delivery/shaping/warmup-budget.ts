/**
 * Daily budget of a source address that is being warmed up. The writer grants messages in small numbers, so
 * that all threads together stay within the budget; when it is spent, the path is closed until the next UTC
 * day. A quarter of each day's budget is reserved for transactional mail.
 */
import type { Clock, Timer } from '../../../lib/clock.ts'
import { nextUtcDay, utcDay } from '../../../lib/periods.ts'
import type { Run } from '../../../store/command.ts'
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
   * returns to the budget when it was not sent
   */
  begin(isTransactional: boolean): (wasSent: boolean) => void
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
    const pool = createPool(options, address, provider, isTransactional ? 1 : BULK_SHARE)
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
          return wasSent => {
            for (const end of begun) end(wasSent)
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
interface Pool {
  /**
   * @param wake called when messages may start again, if none may now; the last one given for a destination
   * counts
   */
  allows(destination: string, wake: () => void): boolean
  /** Whether no granted message is left. */
  isEmpty(): boolean
  /** @param wake called on the next day, if the budget is spent now */
  isSpent(destination: string, wake: () => void): boolean
  begin(): (wasSent: boolean) => void
  close(): Promise<void>
}

function createPool(
  { clock, run, plan, onSpent, onError }: WarmupBudgetsOptions,
  address: string,
  provider: string,
  share: number,
): Pool {
  const waiting = new Map<string, () => void>()
  let day = utcDay(clock.now())
  let left = 0
  let isDry = false
  let isAsking = false
  let isClosed = false
  let timer: Timer | undefined

  const wakeAll = () => {
    const wakes = [...waiting.values()]
    waiting.clear()
    for (const wake of wakes) wake()
  }
  const sleep = (ms: number) => {
    timer?.cancel()
    timer = isClosed ? undefined : clock.timer(Math.min(ms, SLEEP_MS_MAX), awake)
  }
  const awake = () => {
    turnDay()
    if (isDry) sleep(nextUtcDay(clock.now()) - clock.now())
    else wakeAll()
  }
  const turnDay = () => {
    const today = utcDay(clock.now())
    if (today === day) return
    day = today
    left = 0
    isDry = false
  }
  const ask = async (cap: number) => {
    const asked = day
    const wanted = Math.min(GRANT_MESSAGES_MAX, Math.ceil(cap * GRANT_SHARE))
    const most = Math.ceil(cap * share)
    isAsking = true
    const granted = await run('grantWarmup', { address, provider, day: asked, most, wanted }).finally(() => {
      isAsking = false
    })
    if (asked !== day) return
    left += granted
    if (granted > 0) return
    isDry = true
    const until = nextUtcDay(clock.now())
    onSpent({ address, provider, cap: most, until })
    sleep(until - clock.now())
  }
  const capOf = () => warmupDay(plan, address, clock.now())?.cap

  return {
    allows(destination, wake) {
      turnDay()
      const cap = capOf()
      if (cap === undefined || left > 0) return true
      waiting.set(destination, wake)
      if (isDry || isAsking || isClosed) return false
      ask(cap).then(wakeAll, error => {
        onError(error)
        sleep(RETRY_MS)
      })
      return false
    },
    isEmpty: () => left <= 0,
    isSpent(destination, wake) {
      turnDay()
      const isSpent = isDry && left === 0
      if (isSpent) waiting.set(destination, wake)
      return isSpent
    },
    begin() {
      const begunOn = day
      if (capOf() === undefined) return () => {}
      left--
      return wasSent => {
        if (wasSent || begunOn !== day) return
        left++
        wakeAll()
      }
    },
    async close() {
      isClosed = true
      timer?.cancel()
      if (left > 0) await run('returnWarmup', { address, provider, day, count: left })
    },
  }
}
