/**
 * What a path may still send today where its address is being warmed up. Messages are granted by the writer,
 * a few at a time; once there are no more, the path is closed until the next UTC day. A quarter of each day
 * is for transactional mail alone.
 */
import type { Clock, Timer } from '../../../lib/clock.ts'
import { nextUtcDay, utcDay } from '../../../lib/periods.ts'
import type { Run } from '../../../store/command.ts'
import type { warmupCommands } from '../../queue/warmup-grants.ts'
import type { EgressSource } from './source-ips.ts'
import { type WarmupPlan, warmedProvider, warmupDay } from './warmup-plan.ts'

export interface WarmupBudget {
  /** Whether a message may begin now. When not, the destination is woken once that may have changed. */
  allows(isTransactional: boolean): boolean
  /** There is no more of it today; the destination is woken on the next. */
  isSpent(isTransactional: boolean): boolean
  /** One begins. @returns to be told at its end whether it was sent */
  begin(isTransactional: boolean): (wasSent: boolean) => void
}

export interface WarmupBudgets {
  /**
   * @param wake called when more is granted to a path to the destination, no more is, or the next day begins
   */
  of(source: EgressSource, destination: string, wake: () => void): WarmupBudget
  /** Gives back what was granted and not used. */
  close(): Promise<void>
}

interface WarmupBudgetsOptions {
  clock: Clock
  run: Run<typeof warmupCommands>
  plan: WarmupPlan
  /** There is no more of it today. */
  onSpent(facts: { address: string; provider: string; cap: number; until: number }): void
  onError(error: unknown): void
}

const BULK_SHARE = 0.75
/** Of a day's messages, granted at a time. */
const GRANT_SHARE = 0.02
const GRANT_MESSAGES_MAX = 100
/** Wall time may jump; it is looked at again at least this often. */
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
      // what transactional mail has used up is there for nobody, though the others have not asked
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

/** What was granted to one address at one provider, for paths of this thread. */
interface Pool {
  /** @param wake called later where it does not; one for each destination */
  allows(destination: string, wake: () => void): boolean
  /** Nothing that was granted is left. */
  isEmpty(): boolean
  /** @param wake called later where it is */
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
