/**
 * Accounts: create, list and update, and usage of plans. In: calls of operators and users. Out: accounts and
 * their usage. Called by the API's account routes.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { Id, IdSource } from '../../lib/ids.ts'
import { nextUtcDay, nextUtcMonth, utcDay, utcMonth } from '../../lib/periods.ts'
import type { Run } from '../../store/model/command.ts'
import { RECIPIENTS } from '../../store/model/schema/events.ts'
import type { Db } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import {
  type AccountWithOwner,
  type accountCommands,
  findAccountWithOwner,
  listAccounts,
} from './account-rows.ts'
import type { Passwords } from './password.ts'
import type { Plan, Plans } from './plans.ts'

export interface NewAccount {
  name: string
  plan: string
  /** Folded. */
  ownerEmail: string
}

export type AccountChange = { [K in keyof NewAccount]?: NewAccount[K] | undefined } & {
  /** Whether new email of the account is refused. */
  suspended?: boolean | undefined
}

/** Number of recipients accepted in one period. */
export interface PeriodUsage {
  used: number
  /** Quota; null means no limit. */
  limit: number | null
  /** Start of the next period, in ms since the epoch. */
  resetsAt: number
}

export interface Usage {
  planName: string
  plan: Plan
  daily: PeriodUsage
  monthly: PeriodUsage
}

interface AccountOptions {
  db: Db
  find: Find
  run: Run<typeof accountCommands>
  clock: Clock
  newId: IdSource
  passwords: Passwords
  plans: Plans
}

export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts({ db, find, run, clock, newId, passwords, plans }: AccountOptions) {
  const used = async (accountId: Id, period: string) => {
    const [counter] = await find('counters', [{ accountId, kind: RECIPIENTS, period }], ['count'])
    return counter?.count ?? 0
  }
  return {
    /**
     * Resolves to the account with the generated password of its owner, which is shown once.
     * @throws TooManyWaiting
     */
    async create({
      name,
      plan,
      ownerEmail,
    }: NewAccount): Promise<{ account: AccountWithOwner; password: string } | 'taken'> {
      const password = randomUUID()
      const passwordHash = await passwords.hash(password)
      const now = clock.now()
      const account = { id: newId(now), name, plan, createdAt: now, suspendedAt: null }
      const owner = { id: newId(now), accountId: account.id, email: ownerEmail, passwordHash }
      const isNew = await run('createAccount', { account, owner: { ...owner, operator: 0, createdAt: now } })
      if (!isNew) return 'taken'
      return { account: { ...account, ownerEmail, pausedAt: null, pauseReason: null }, password }
    },
    find: (id: Id) => findAccountWithOwner(db, id),
    list: (page: { limit: number; offset: number }) => listAccounts(db, page),
    async change(id: Id, set: AccountChange): Promise<AccountWithOwner | 'missing' | 'taken'> {
      const result = await run('changeAccount', { id, set, now: clock.now() })
      if (result !== 'changed') return result
      return (await findAccountWithOwner(db, id)) ?? 'missing'
    },
    /** Resolves to the new password of the owner, whose sessions end; undefined if there is no such account. */
    async resetPassword(id: Id) {
      const password = randomUUID()
      const passwordHash = await passwords.hash(password)
      return (await run('resetOwnerPassword', { id, passwordHash })) ? password : undefined
    },
    async usage(id: Id): Promise<Usage | undefined> {
      const [account] = await find('accounts', [{ id }], ['plan'])
      if (!account) return undefined
      const plan = plans.named(account.plan)
      const now = clock.now()
      return {
        planName: account.plan,
        plan,
        daily: { used: await used(id, utcDay(now)), limit: plan.daily, resetsAt: nextUtcDay(now) },
        monthly: { used: await used(id, utcMonth(now)), limit: plan.monthly, resetsAt: nextUtcMonth(now) },
      }
    },
  }
}
