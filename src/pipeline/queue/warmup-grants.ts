/**
 * What addresses that are being warmed up may send today, granted by the writer, so that all threads and
 * processes together keep to it.
 */
import { command } from '../../store/command.ts'
import type { Db } from '../../store/schema.ts'
import { NOBODY } from './destinations.ts'

/** Of whom and when. */
interface Warming {
  address: string
  provider: string
  /** UTC, as in `2026-11-21`. */
  day: string
}

export interface WarmupCount {
  address: string
  provider: string
  /** Sent, or about to be. */
  count: number
}

const PREFIX = 'warmup.'
/** What all of these counters are called, and nothing else. */
export const WARMUP_KINDS = `${PREFIX}%`

function kindOf({ address, provider }: Warming): string {
  return `${PREFIX}${address} ${provider}`
}

export const warmupCommands = {
  /**
   * @returns how many of the wanted messages may be sent, with which there are no more than `most` that day
   */
  grantWarmup: command<Warming & { most: number; wanted: number }, number>(
    async (tx, { most, wanted, ...warming }) => {
      const kind = kindOf(warming)
      const left = most - (await tx.counted(NOBODY, kind, warming.day))
      const granted = Math.max(0, Math.min(wanted, left))
      if (granted > 0) tx.count(NOBODY, kind, warming.day, granted)
      return granted
    },
  ),

  /** So many were granted, and not sent. */
  returnWarmup: command<Warming & { count: number }, void>(async (tx, { count, ...warming }) => {
    tx.count(NOBODY, kindOf(warming), warming.day, -count)
  }),
}

/** The most first. */
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
