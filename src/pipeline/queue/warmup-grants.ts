/**
 * Grants the daily warm-up budgets of source addresses. The writer counts them, so that all threads and
 * processes share one budget.
 */
import { command } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import { NOBODY } from './destinations.ts'

/** Identifies a warm-up budget. */
interface WarmupKey {
  address: string
  provider: string
  /** UTC day, such as `2026-11-21`. */
  day: string
}

export interface WarmupCount {
  address: string
  provider: string
  /** Number of messages sent or granted. */
  count: number
}

const PREFIX = 'warmup.'
/** LIKE pattern that matches the warm-up counters only. */
export const WARMUP_KINDS = `${PREFIX}%`

function kindOf({ address, provider }: WarmupKey): string {
  return `${PREFIX}${address} ${provider}`
}

export const warmupCommands = {
  /**
   * @param most is the budget of the day
   * @returns the number of messages granted, at most `wanted`
   */
  grantWarmup: command<WarmupKey & { max: number; wanted: number }, number>(
    async (tx, { max, wanted, ...warming }) => {
      const kind = kindOf(warming)
      const left = max - (await tx.counted(NOBODY, kind, warming.day))
      const granted = Math.max(0, Math.min(wanted, left))
      if (granted > 0) tx.count(NOBODY, kind, warming.day, granted)
      return granted
    },
  ),

  /** Returns granted messages that were not sent. */
  returnWarmup: command<WarmupKey & { count: number }, void>(async (tx, { count, ...warming }) => {
    tx.count(NOBODY, kindOf(warming), warming.day, -count)
  }),
}

/** Sorted by count, the largest first. */
export async function listWarmupCounts(db: Db, day: string): Promise<WarmupCount[]> {
  const rows = await db
    .selectFrom('counters')
    .select(['kind', 'count'])
    .where('accountId', '=', NOBODY)
    .where('kind', 'like', WARMUP_KINDS)
    .where('period', '=', day)
    .where('count', '>', 0)
    .execute()
  return rows
    .map(({ kind, count }) => {
      const [address = '', provider = ''] = kind.slice(PREFIX.length).split(' ')
      return { address, provider, count: Number(count) }
    })
    .sort((a, b) => b.count - a.count || (a.provider < b.provider ? -1 : 1))
}
