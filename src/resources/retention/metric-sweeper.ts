/** Deletes the metric counters that are older than their account's horizon. */

import type { Id } from '../../lib/ids.ts'
import { command, type Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import { METRIC_KINDS, periodOf, quarterOf } from '../events/metrics.ts'
import { type HorizonsOptions, horizons } from './horizons.ts'

interface Counter {
  kind: string
  period: string
}

export const metricCommands = {
  forgetMetrics: command<{ accountId: Id; counters: readonly Counter[] }, void>(
    async (tx, { accountId, counters }) => {
      for (const { kind, period } of counters)
        await tx.db
          .deleteFrom('counters')
          .where('accountId', '=', accountId)
          .where('kind', '=', kind)
          .where('period', '=', period)
          .execute()
    },
  ),
}

interface MetricSweeperOptions extends HorizonsOptions {
  run: Run<typeof metricCommands>
}

/** Counters per step, and per command. */
const COUNTERS_PER_STEP_MAX = 2_000
const COUNTERS_PER_COMMAND_MAX = 200

export async function* sweepMetrics(options: MetricSweeperOptions): AsyncGenerator<void> {
  for await (const accounts of horizons(options))
    for (const { accountId, horizon } of accounts) {
      const before = Math.max(0, quarterOf(horizon))
      if (before > 0) yield* sweepAccount(options, accountId, periodOf(before))
    }
}

async function* sweepAccount(
  { db, run }: MetricSweeperOptions,
  accountId: Id,
  before: string,
): AsyncGenerator<void> {
  for (let after: Counter | undefined, more = true; more; yield) {
    const counters = await countersAfter(db, accountId, after)
    const old = counters.filter(({ period }) => period < before)
    for (let at = 0; at < old.length; at += COUNTERS_PER_COMMAND_MAX)
      await run('forgetMetrics', { accountId, counters: old.slice(at, at + COUNTERS_PER_COMMAND_MAX) })
    more = counters.length === COUNTERS_PER_STEP_MAX
    after = counters.at(-1)
  }
}

/** Sorted by key. */
function countersAfter(db: Db, accountId: Id, after: Counter | undefined): Promise<Counter[]> {
  const query = db
    .selectFrom('counters')
    .select(['kind', 'period'])
    .where('accountId', '=', accountId)
    .where('kind', 'like', METRIC_KINDS)
    .orderBy('kind')
    .orderBy('period')
    .limit(COUNTERS_PER_STEP_MAX)
  if (!after) return query.execute()
  const { kind, period } = after
  return query
    .where(eb => eb.or([eb('kind', '>', kind), eb.and([eb('kind', '=', kind), eb('period', '>', period)])]))
    .execute()
}
