/** The addresses we send from, as the operator sees them: how far each is warmed up, and where it rests. */
import { utcDay } from '../../../lib/periods.ts'
import type { Db } from '../../../store/schema.ts'
import { listPausedDestinations } from '../../queue/destination-states.ts'
import { listWarmupCounts, type WarmupCount } from '../../queue/warmup-grants.ts'
import type { SourceIp } from './source-ips.ts'
import { type WarmupDay, type WarmupPlan, warmupDay } from './warmup-plan.ts'

export interface SourceEntry {
  address: string
  /** With which we greet from there. */
  name: string
  /** Null where it is warm. */
  warmup: (WarmupDay & { caps: readonly number[]; sent: Pick<WarmupCount, 'provider' | 'count'>[] }) | null
  /** Shaper to which nothing goes from there now; the first to be tried again first. */
  rests: { site: string; until: number; reason: string }[]
}

export interface SourceReportOptions {
  db: Db
  sourceIps: readonly SourceIp[]
  /** With which we greet where an address has no name of its own. */
  localName: string
  plan: WarmupPlan
}

/** In the order in which they are set. */
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
      .map(({ site, pausedUntil: until, reason }) => ({ site, until, reason }))
      .sort((a, b) => a.until - b.until)
    return { address, name: name ?? localName, warmup: day ? { ...day, caps: plan.caps, sent } : null, rests }
  })
}
