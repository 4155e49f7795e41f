/** Computes the horizon of each account: the time up to which its plan has mail deleted. */

import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import type { Db } from '../../store/model/schema.ts'
import { horizon, type Plans } from '../accounts/plans.ts'
import type { Beyond } from './commands.ts'

export interface HorizonsOptions {
  db: Db
  plans: Pick<Plans, 'named'>
  clock: Clock
}

const ACCOUNTS_PER_STEP_MAX = 100

/** Yields all accounts in batches. */
export async function* horizons({ db, plans, clock }: HorizonsOptions): AsyncGenerator<Beyond[]> {
  for (let after: Id = new Uint8Array(16), more = true; more; ) {
    const accounts = await db
      .selectFrom('accounts')
      .select(['id', 'plan'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(ACCOUNTS_PER_STEP_MAX)
      .execute()
    yield accounts.map(({ id: accountId, plan }) => ({
      accountId,
      horizon: horizon(plans.named(plan), clock.now()),
    }))
    more = accounts.length === ACCOUNTS_PER_STEP_MAX
    after = accounts.at(-1)?.id ?? after
  }
}
