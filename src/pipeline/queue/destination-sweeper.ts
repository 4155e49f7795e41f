/**
 * Deletes data of destinations that is older than 31 days: counters, replies, and the destination of each
 * domain.
 */
import type { Clock } from '../../lib/clock.ts'
import { utcDay } from '../../lib/periods.ts'
import { command, type Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import { DESTINATION_KINDS, NOBODY } from './destinations.ts'
import { WARMUP_KINDS } from './warmup-grants.ts'

interface CounterKey {
  kind: string
  period: string
}

export const destinationCommands = {
  forgetArrivals: command<readonly CounterKey[], void>(async ({ db }, counters) => {
    for (const { kind, period } of counters)
      await db
        .deleteFrom('counters')
        .where('accountId', '=', NOBODY)
        .where('kind', '=', kind)
        .where('period', '=', period)
        .execute()
  }),

  /** A destination has at most `REPLY_FORMS_MAX + 1` rows a day. */
  forgetReplies: command<readonly { day: string; destination: string }[], void>(async ({ db }, places) => {
    for (const { day, destination } of places)
      await db
        .deleteFrom('destinationReplies')
        .where('day', '=', day)
        .where('destination', '=', destination)
        .execute()
  }),

  forgetDomainDestinations: command<{ domains: readonly string[]; before: number }, void>(
    async ({ db }, { domains, before }) => {
      await db
        .deleteFrom('domainDestinations')
        .where('domain', 'in', domains)
        .where('seenAt', '<', before)
        .execute()
    },
  ),
}

interface DestinationSweeperOptions {
  db: Db
  run: Run<typeof destinationCommands>
  clock: Clock
}

const RETENTION_MS = 31 * 86_400_000
const ROWS_PER_STEP_MAX = 200
const KINDS = [DESTINATION_KINDS, WARMUP_KINDS]

/** Yields after each step. */
export async function* sweepDestinations({
  db,
  run,
  clock,
}: DestinationSweeperOptions): AsyncGenerator<void> {
  const before = clock.now() - RETENTION_MS
  const day = utcDay(before)
  const steps = [
    async () => {
      const counters = await db
        .selectFrom('counters')
        .select(['kind', 'period'])
        .where('accountId', '=', NOBODY)
        .where(({ eb, or }) => or(KINDS.map(kind => eb('kind', 'like', kind))))
        .where('period', '<', day)
        .limit(ROWS_PER_STEP_MAX)
        .execute()
      if (counters.length > 0) await run('forgetArrivals', counters)
      return counters.length
    },
    async () => {
      const places = await db
        .selectFrom('destinationReplies')
        .select(['day', 'destination'])
        .distinct()
        .where('day', '<', day)
        .limit(ROWS_PER_STEP_MAX)
        .execute()
      if (places.length > 0) await run('forgetReplies', places)
      return places.length
    },
    async () => {
      const rows = await db
        .selectFrom('domainDestinations')
        .select('domain')
        .where('seenAt', '<', before)
        .limit(ROWS_PER_STEP_MAX)
        .execute()
      if (rows.length > 0)
        await run('forgetDomainDestinations', { domains: rows.map(({ domain }) => domain), before })
      return rows.length
    },
  ]
  for (const step of steps) while ((await step()) === ROWS_PER_STEP_MAX) yield
}
