/**
 * Report of the source addresses for the operator: warm-up progress, and the destinations that are paused.
 */
import { utcDay } from '../../../lib/periods.ts'
import type { Db } from '../../../store/model/schema.ts'
import { listPausedDestinations } from '../../queue/destination-states.ts'
import { listWarmupCounts, type WarmupCount } from '../../queue/warmup-grants.ts'
import type { SourceIp } from './source-ips.ts'
import { type WarmupDay, type WarmupPlan, warmupDay } from './warmup-plan.ts'

export interface SourceEntry {
  address: string
  /** EHLO name. */
  name: string
  /** Null when the address is not being warmed up. */
  warmup: (WarmupDay & { caps: readonly number[]; sent: Pick<WarmupCount, 'provider' | 'count'>[] }) | null
  /** Destinations that are paused for this address, the one that is tried first at the front. */
  rests: { destination: string; until: number; reason: string }[]
}

export interface SourceReportOptions {
  db: Db
  sourceIps: readonly SourceIp[]
  /** EHLO name of addresses that have none. */
  localName: string
  plan: WarmupPlan
}

/** @returns the addresses in the order of the configuration */
export async function reportSources(
  { db, sourceIps, localName, plan }: SourceReportOptions,
  now: number,
): Promise<SourceEntry[]> {
  const counts = await listWarmupCounts(db, utcDay(now))
  const paused = await listPausedDestinations(db, now)
  return sourceIps.map(({ address, name }) => {
    const day = warmupDay(plan, address, now)
    const sent = counts
      .filter(counted => counted.address === address)
      .map(({ provider, count }) => ({ provider, count }))
    const rests = paused
      .filter(({ source }) => source === '' || source.split(' ').includes(address))
      .map(({ destination, pausedUntil: until, reason }) => ({ destination, until, reason }))
      .sort((a, b) => a.until - b.until)
    return { address, name: name ?? localName, warmup: day ? { ...day, caps: plan.caps, sent } : null, rests }
  })
}
