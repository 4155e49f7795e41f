/** Reports metrics over a period, from the counters of events, or from the events of a few emails. */
import { type Id, idText } from '../../lib/ids.ts'
import type { Db, Flag } from '../../store/model/schema.ts'
import { type Granularity, localWallClock, periodNamer } from './local-time.ts'
import {
  COUNTED_METRICS,
  type CountedMetric,
  countedAs,
  metricKind,
  metricsOf,
  periodOf,
  QUARTER_MS,
  quarterOf,
  SIMULATED_METRICS,
  type SimulatedMetric,
  simulatedMetric,
} from './metrics.ts'
import type { EventData, EventType } from './types.ts'

export const DIMENSIONS = ['period', 'domain', 'email', 'broadcast'] as const
export type Dimension = (typeof DIMENSIONS)[number]

export interface MetricsQuestion {
  accountId: Id
  /** Epoch ms, a multiple of a quarter of an hour. */
  from: number
  /** Epoch ms, excluded, a multiple of a quarter of an hour. */
  to: number
  timeZone: string
  granularity: Granularity
  dimensions: readonly Dimension[]
  /** Restricts the report to these; null for no restriction. */
  domains: readonly Id[] | null
  broadcasts: readonly Id[] | null
  emails: readonly Id[] | null
}

/** Counts of all mail, and of the simulated mail among it. */
export type MetricCounts = Partial<Record<CountedMetric | SimulatedMetric, number>>

export interface MetricsRow {
  period: string | null
  domainId: Id | null
  broadcastId: Id | null
  emailId: Id | null
  counts: MetricCounts
}

export interface MetricsReport {
  totals: MetricCounts
  /** Grouped by the requested dimensions. Groups without events are left out. */
  rows: MetricsRow[]
}

/** Number of events of a metric in a quarter of an hour, for real or for simulated mail. */
interface Fact {
  metric: CountedMetric | SimulatedMetric
  /** Beginning of the quarter, epoch ms. Arbitrary if periods are not requested. */
  at: number
  count: number
  domainId: Id | null
  broadcastId: Id | null
  emailId: Id | null
}

const ALL_METRICS = [...COUNTED_METRICS, ...SIMULATED_METRICS]
const WHOLES = new Map<Fact['metric'], CountedMetric>(
  COUNTED_METRICS.flatMap(metric => (metric === 'received' ? [] : [[simulatedMetric(metric), metric]])),
)

export async function reportMetrics(db: Db, question: MetricsQuestion): Promise<MetricsReport> {
  const facts = question.emails ? await factsOfEmails(db, question) : await factsOfCounters(db, question)
  const totals: MetricCounts = {}
  for (const fact of facts) add(totals, fact)
  return { totals, rows: question.dimensions.length === 0 ? [] : rowsOf(facts, question) }
}

/**
 * Events of deleted domains or of no domain are the difference between the account's counters and those of
 * its domains.
 */
async function factsOfCounters(db: Db, question: MetricsQuestion): Promise<Fact[]> {
  const { accountId, dimensions, domains, broadcasts } = question
  const apart = dimensions.includes('domain') && !domains ? await domainsOf(db, accountId) : []
  const cells: Fact[][] = []
  for (const broadcast of broadcasts ?? [null]) {
    const parts: Fact[][] = []
    for (const domain of domains ?? apart) parts.push(await readCell(db, question, domain, broadcast))
    if (!domains) cells.push(less(await readCell(db, question, null, broadcast), parts.flat()))
    cells.push(...parts)
  }
  return cells.flat()
}

async function domainsOf(db: Db, accountId: Id): Promise<Id[]> {
  const rows = await db.selectFrom('domains').select('id').where('accountId', '=', accountId).execute()
  return rows.map(({ id }) => id)
}

async function readCell(
  db: Db,
  { accountId, from, to, dimensions }: MetricsQuestion,
  domainId: Id | null,
  broadcastId: Id | null,
): Promise<Fact[]> {
  const metrics = new Map(
    ALL_METRICS.map(metric => [metricKind(metric, domainId, broadcastId), metric] as const),
  )
  const counted = db
    .selectFrom('counters')
    .where('accountId', '=', accountId)
    .where('kind', 'in', [...metrics.keys()])
    .where('period', '>=', periodOf(quarterOf(from)))
    .where('period', '<', periodOf(quarterOf(to)))
  const rows = dimensions.includes('period')
    ? await counted.select(['kind', 'period', 'count']).execute()
    : (
        await counted
          .select(eb => ['kind', eb.fn.sum<number | string>('count').as('count')])
          .groupBy('kind')
          .execute()
      ).map(row => ({ ...row, period: periodOf(quarterOf(from)) }))
  return rows.map(({ kind, period, count }) => ({
    metric: metrics.get(kind)!,
    at: Number(period) * QUARTER_MS,
    count: Number(count),
    domainId,
    broadcastId,
    emailId: null,
  }))
}

function less(whole: readonly Fact[], parts: readonly Fact[]): Fact[] {
  const keyOf = ({ metric, at }: Fact) => `${metric} ${at}`
  const sums = new Map<string, number>()
  for (const fact of parts) sums.set(keyOf(fact), (sums.get(keyOf(fact)) ?? 0) + fact.count)
  return whole
    .map(fact => ({ ...fact, count: fact.count - (sums.get(keyOf(fact)) ?? 0) }))
    .filter(({ count }) => count > 0)
}

/** The caller has checked that the emails belong to the account. */
async function factsOfEmails(db: Db, question: MetricsQuestion): Promise<Fact[]> {
  const { accountId, emails, from, to, domains } = question
  const rows = await db
    .selectFrom('events')
    .innerJoin('emails', join =>
      join.onRef('emails.id', '=', 'events.subjectId').onRef('emails.accountId', '=', 'events.accountId'),
    )
    .select([
      'subjectId',
      'type',
      'recipient',
      'data',
      'events.createdAt',
      'domainId',
      'broadcastId',
      'simulated',
    ])
    .where('events.accountId', '=', accountId)
    .where('subjectId', 'in', [...emails!])
    .orderBy('subjectId')
    .orderBy('events.id')
    .execute()
  const wanted = domains && new Set(domains.map(idText))
  const isSimulated = await simulatedIn(db, emails!)
  const seen = new Set<string>()
  const facts: Fact[] = []
  for (const { subjectId, type, recipient, data, createdAt, domainId, broadcastId, simulated } of rows) {
    const key = `${idText(subjectId)} ${type} ${recipient}`
    const isRepeated = seen.has(key)
    seen.add(key)
    if (createdAt < from || createdAt >= to) continue
    if (wanted && !(domainId && wanted.has(idText(domainId)))) continue
    const event = { type: type as EventType, data: JSON.parse(data) as EventData, isRepeated }
    const at = quarterOf(createdAt) * QUARTER_MS
    const kind = recipient === null ? simulated : isSimulated(subjectId, recipient)
    for (const counted of metricsOf(event))
      facts.push({
        metric: countedAs(counted, kind),
        at,
        count: 1,
        domainId,
        broadcastId,
        emailId: subjectId,
      })
  }
  return facts
}

/** Returns a function that tells whether a recipient of one of these emails is a simulator address. */
async function simulatedIn(db: Db, emails: readonly Id[]): Promise<(emailId: Id, recipient: string) => Flag> {
  const rows = await db
    .selectFrom('deliveries')
    .select(['emailId', 'address'])
    .where('emailId', 'in', emails)
    .where('simulated', '=', 1)
    .execute()
  const known = new Set(rows.map(({ emailId, address }) => `${idText(emailId)} ${address}`))
  return (emailId, recipient) => (known.has(`${idText(emailId)} ${recipient}`) ? 1 : 0)
}

function rowsOf(facts: readonly Fact[], question: MetricsQuestion): MetricsRow[] {
  const { dimensions, timeZone, granularity } = question
  const nameOf = remembered(periodNamer(localWallClock(timeZone), granularity))
  const rows = new Map<string, MetricsRow>()
  for (const fact of facts) {
    const names = {
      period: dimensions.includes('period') ? nameOf(fact.at) : null,
      domainId: dimensions.includes('domain') ? fact.domainId : null,
      broadcastId: dimensions.includes('broadcast') ? fact.broadcastId : null,
      emailId: dimensions.includes('email') ? fact.emailId : null,
    }
    const { period, domainId, broadcastId, emailId } = names
    const ids = [domainId, broadcastId, emailId].map(id => (id ? idText(id) : ''))
    const key = [period ?? '', ...ids].join(' ')
    const row = rows.get(key) ?? { ...names, counts: {} }
    rows.set(key, row)
    add(row.counts, fact)
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** Caches names, since many facts belong to the same quarter. */
function remembered(nameOf: (at: number) => string): (at: number) => string {
  const names = new Map<number, string>()
  return at => {
    const name = names.get(at) ?? nameOf(at)
    names.set(at, name)
    return name
  }
}

/** Simulated mail is included in the total. */
function add(counts: MetricCounts, { metric, count }: Fact): void {
  counts[metric] = (counts[metric] ?? 0) + count
  const whole = WHOLES.get(metric)
  if (whole) counts[whole] = (counts[whole] ?? 0) + count
}
