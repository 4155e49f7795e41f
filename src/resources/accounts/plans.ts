/**
 * Plans: how much an account may send, and how long its emails are kept. They are configuration; an account
 * names one.
 */
import type { Clock } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import type { Find } from '../../store/read.ts'

export interface Plan {
  /** Null keeps emails for ever. */
  retentionDays: number | null
  /** Recipients a UTC day; null is no limit. */
  daily: number | null
  /** Recipients per calendar month (UTC). */
  monthly: number | null
}

/** What an account may send, where its plan sets a limit. */
export type Quota = Pick<Plan, 'daily' | 'monthly'>

export interface Plans {
  /** The plans there are, by name. */
  readonly all: ReadonlyMap<string, Plan>
  /** The plan with this name; one that is no longer configured limits nothing and deletes nothing. */
  named(name: string): Plan
  /** Null where the account's plan has no limit. */
  quotaOf(accountId: Id): Promise<Quota | null>
  /** Epoch ms; emails that ended then or before are out of the account's sight. */
  horizonOf(accountId: Id): Promise<number>
}

interface PlanOptions {
  plans: Readonly<Record<string, Plan>>
  find: Find
  clock: Clock
  /** Calls back with every account that has been changed. */
  onAccountChanged(listener: (accountId: Id) => void): void
}

/** What a new account is on, unless its maker says otherwise. */
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

/** Epoch ms; 0 for a plan that keeps emails for ever. */
export function horizon({ retentionDays }: Plan, now: number): number {
  return retentionDays === null ? 0 : now - retentionDays * DAY_MS
}
