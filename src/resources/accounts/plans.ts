/**
 * Plans: the quota of an account and the retention of its emails. Plans are configuration; an account refers
 * to one by name.
 */
import type { Clock } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import type { Find } from '../../store/reading/read.ts'

export interface Plan {
  /** Null keeps emails forever. */
  retentionDays: number | null
  /** Recipients per UTC day; null means no limit. */
  daily: number | null
  /** Recipients per calendar month (UTC). */
  monthly: number | null
}

/** Quota of an account whose plan sets a limit. */
export type Quota = Pick<Plan, 'daily' | 'monthly'>

export interface Plans {
  /** Configured plans by name. */
  readonly all: ReadonlyMap<string, Plan>
  /**
   * Returns the plan with this name. A plan that is no longer configured has no limits and deletes nothing.
   */
  named(name: string): Plan
  /** Returns null if the plan of the account has no limit. */
  quotaOf(accountId: Id): Promise<Quota | null>
  /**
   * Returns ms since the epoch. Emails that ended at or before this time are outside the retention window.
   */
  horizonOf(accountId: Id): Promise<number>
}

interface PlanOptions {
  plans: Readonly<Record<string, Plan>>
  find: Find
  clock: Clock
  /** Calls the listener with each account that was changed. */
  onAccountChanged(listener: (accountId: Id) => void): void
}

/** Default plan of new accounts. */
export const DEFAULT_PLAN = 'scale'
const NO_PLAN: Plan = { retentionDays: null, daily: null, monthly: null }
const DAY_MS = 86_400_000

export function createPlans({ plans, find, clock, onAccountChanged }: PlanOptions): Plans {
  const all = new Map(Object.entries(plans))
  const known = new Map<string, Promise<Plan>>()
  onAccountChanged(accountId => known.delete(idKey(accountId)))

  const named = (name: string) => all.get(name) ?? NO_PLAN
  const lookUp = async (accountId: Id) => {
    const [account] = await find('accounts', [{ id: accountId }], ['plan'])
    return account ? named(account.plan) : NO_PLAN
  }
  const planOf = (accountId: Id) => {
    const key = idKey(accountId)
    const former = known.get(key)
    if (former) return former
    const plan = lookUp(accountId)
    known.set(key, plan)
    plan.catch(() => known.delete(key))
    return plan
  }

  return {
    all,
    named,
    async quotaOf(accountId) {
      const { daily, monthly } = await planOf(accountId)
      return daily === null && monthly === null ? null : { daily, monthly }
    },
    horizonOf: async accountId => horizon(await planOf(accountId), clock.now()),
  }
}

/** Returns ms since the epoch; 0 for a plan that keeps emails forever. */
export function horizon({ retentionDays }: Plan, now: number): number {
  return retentionDays === null ? 0 : now - retentionDays * DAY_MS
}
