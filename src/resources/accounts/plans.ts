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
  /** Tells whether new email of the account is refused. */
  isSuspended(accountId: Id): Promise<boolean>
  /** Returns null if the plan of the account has no limit. */
  quotaOf(accountId: Id): Promise<Quota | null>
  /**
   * Returns ms since the epoch. Emails that ended at or before this time are outside the retention window.
   */
  horizonOf(accountId: Id): Promise<number>
}

/** What an account may do at present. */
interface Standing {
  plan: Plan
  isSuspended: boolean
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
  const known = new Map<string, Promise<Standing>>()
  onAccountChanged(accountId => known.delete(idKey(accountId)))

  const named = (name: string) => all.get(name) ?? NO_PLAN
  const lookUp = async (accountId: Id) => {
    const [account] = await find('accounts', [{ id: accountId }], ['plan', 'suspendedAt'])
    return account
      ? { plan: named(account.plan), isSuspended: account.suspendedAt !== null }
      : { plan: NO_PLAN, isSuspended: false }
  }
  const standingOf = (accountId: Id) => {
    const key = idKey(accountId)
    const former = known.get(key)
    if (former) return former
    const standing = lookUp(accountId)
    known.set(key, standing)
    standing.catch(() => known.delete(key))
    return standing
  }

  return {
    all,
    named,
    isSuspended: async accountId => (await standingOf(accountId)).isSuspended,
    async quotaOf(accountId) {
      const { daily, monthly } = (await standingOf(accountId)).plan
      return daily === null && monthly === null ? null : { daily, monthly }
    },
    horizonOf: async accountId => horizon((await standingOf(accountId)).plan, clock.now()),
  }
}

/** Returns ms since the epoch; 0 for a plan that keeps emails forever. */
export function horizon({ retentionDays }: Plan, now: number): number {
  return retentionDays === null ? 0 : now - retentionDays * DAY_MS
}
