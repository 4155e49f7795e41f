/** How far back each account sees, by its plan. */

import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import type { Db } from '../../store/schema.ts'
import { horizon, type Plans } from '../accounts/plans.ts'
import type { Beyond } from './commands.ts'

export interface HorizonsOptions {
  db: Db
  plans: Pick<Plans, 'named'>
  clock: Clock
}

const ACCOUNTS_AT_ONCE = 100

/** All accounts, some at a time. */
export async function* horizons({ db, plans, clock }: HorizonsOptions): AsyncGenerator<Beyond[]> {
  for (let after: Id = new Uint8Array(16), more = true; more; ) {
    const accounts = await db
      .selectFrom('accounts')
      .select(['id', 'plan'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(ACCOUNTS_AT_ONCE)
      .execute()
    yield accounts.map(({ id: accountId, plan }) => ({
      accountId,
      horizon: horizon(plans.named(plan), clock.now()),
    }))
    more = accounts.length === ACCOUNTS_AT_ONCE
    after = accounts.at(-1)?.id ?? after
  }
}
