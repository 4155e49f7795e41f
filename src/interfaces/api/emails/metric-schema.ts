/** Reads the query of `GET /emails/metrics`, and defines its reply. */
import * as z from 'zod'
import { type Id, type IdPrefix, idKey, parseWireId, wireId } from '../../../lib/ids.ts'
import { parseIsoTime } from '../../../lib/iso-time.ts'
import {
  dayBegin,
  GRANULARITIES,
  type Granularity,
  localWallClock,
} from '../../../resources/events/local-time.ts'
import { COUNTED_METRICS, SIMULATED_METRICS } from '../../../resources/events/metrics.ts'
import {
  DIMENSIONS,
  type Dimension,
  type MetricCounts,
  type MetricsRow,
} from '../../../resources/events/metrics-report.ts'
import { invalidParameter } from '../schema/broken-rule.ts'
import { withOffset } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'

/** Rates between 0 and 1, computed from the counts of real mail. A rate without data is 0. */
const RATES = {
  delivery_rate: of => share(of('delivered'), ended(of)),
  bounce_rate: of => share(of('bounced'), ended(of)),
  open_rate: of => share(of('unique_opened'), of('delivered')),
  click_rate: of => share(of('unique_clicked'), of('delivered')),
  complaint_rate: of => share(of('complained'), of('delivered')),
  unsubscribe_rate: () => 0,
} satisfies Record<string, (of: CountOf) => number>
/** Metrics of the SDKs that are never counted here. */
const UNCOUNTED = ['unsubscribed'] as const

type CountOf = (metric: keyof MetricCounts) => number
type Rate = keyof typeof RATES

/** The metrics that the SDKs know: a closed list in their types. */
const SDK_METRICS = [...COUNTED_METRICS, ...UNCOUNTED, ...(Object.keys(RATES) as Rate[])] as const
const METRICS = [...SDK_METRICS, ...SIMULATED_METRICS] as const
type Metric = (typeof METRICS)[number]

const IDS_MAX = 100
const DEFAULT_RANGE_MS = 6 * 86_400_000
const DAY_MS = 86_400_000
const list = (description: string) => z.string().optional().meta({ description })

export const metricsQuery = {
  start_date: list('Date or time; by default 6 days before the end.'),
  end_date: list('Date (inclusive) or time; by default now.'),
  timezone: list('Time zone of dates and periods, such as `Europe/Vienna`; by default UTC.'),
  granularity: z.enum(GRANULARITIES).default('daily'),
  metrics: list(`Metrics, separated by commas: ${METRICS.join(', ')}. By default all.`),
  dimensions: list(`Dimensions, separated by commas: ${DIMENSIONS.join(', ')}.`),
  domain_id: list('Ids, separated by commas.'),
  email_id: list('Ids, separated by commas.'),
  broadcast_id: list('Ids, separated by commas.'),
}

const counts = z.object(
  Object.fromEntries(METRICS.map(metric => [metric, z.number().min(0).exactOptional()])),
)
export const metricsSchema = z.object({
  object: z.literal('metrics'),
  start_date: timeSchema,
  end_date: timeSchema,
  metrics: z
    .array(z.enum(METRICS))
    .meta({ description: 'Without those of simulated mail, unless requested.' }),
  dimensions: z.array(z.enum(DIMENSIONS)),
  granularity: z.enum(GRANULARITIES),
  totals: counts,
  data: z
    .array(
      counts.extend({
        period: z.string().exactOptional(),
        domain_id: idSchema('dom').nullable().exactOptional(),
        domain_name: z.string().nullable().exactOptional(),
        email_id: idSchema('eml').exactOptional(),
        broadcast_id: idSchema('brd').nullable().exactOptional(),
      }),
    )
    .exactOptional(),
})

export interface AskedMetrics {
  /** Start of the period, in ms since the epoch. */
  from: number
  /** End of the period (exclusive), in ms since the epoch. */
  to: number
  timeZone: string
  granularity: Granularity
  metrics: readonly Metric[]
  /** Metrics that the reply names. Those of simulated mail are named if they were asked for by name. */
  named: readonly Metric[]
  dimensions: readonly Dimension[]
  domains: Id[] | null
  emails: Id[] | null
  broadcasts: Id[] | null
}

/** @throws ApiError 422 naming the parameter */
export function readMetrics(query: URLSearchParams, now: number): AskedMetrics {
  const timeZone = query.get('timezone') || 'UTC'
  const wall = wallOf(timeZone)
  const timeOf = (name: string, days: number) => {
    const text = query.get(name) || undefined
    if (text === undefined) return undefined
    const midnight = parseIsoTime(`${text}T00:00Z`)
    const at =
      midnight === undefined ? parseIsoTime(withOffset(text)) : dayBegin(wall, midnight + days * DAY_MS)
    if (at === undefined)
      throw invalidParameter(name, 'an ISO 8601 date, or a time with an offset or `Z`', text)
    return at
  }
  const to = Math.min(timeOf('end_date', 1) ?? now, now)
  const from = timeOf('start_date', 0) ?? to - DEFAULT_RANGE_MS
  if (from > to) throw invalidParameter('start_date', 'in the past and not after `end_date`')
  const chosen = namesOf(query, 'metrics', METRICS)
  const question = {
    ...{ from, to, timeZone, metrics: chosen ?? METRICS, named: chosen ?? SDK_METRICS },
    granularity: oneOf(GRANULARITIES, 'granularity', query.get('granularity') || 'daily'),
    dimensions: namesOf(query, 'dimensions', DIMENSIONS) ?? [],
    domains: idsOf(query, 'domain_id', 'dom'),
    emails: idsOf(query, 'email_id', 'eml'),
    broadcasts: idsOf(query, 'broadcast_id', 'brd'),
  }
  if (question.dimensions.includes('email') && !question.emails)
    throw invalidParameter('email_id', 'set when `dimension` is `email`')
  if (question.emails && (question.broadcasts || question.dimensions.includes('broadcast')))
    throw invalidParameter('email_id', 'omitted when metrics of broadcasts are requested')
  return question
}

/** @param nameOf returns the name of a domain of the account */
export function metricsRowView(
  { period, domainId, broadcastId, emailId, counts }: MetricsRow,
  { metrics, dimensions }: Pick<AskedMetrics, 'metrics' | 'dimensions'>,
  nameOf: (domain: Id) => string | undefined,
) {
  const has = (dimension: Dimension) => dimensions.includes(dimension)
  return {
    ...(has('period') && { period: period! }),
    ...(has('domain') && {
      domain_id: domainId && wireId('dom', domainId),
      domain_name: (domainId && nameOf(domainId)) ?? null,
    }),
    ...(has('email') && { email_id: wireId('eml', emailId!) }),
    ...(has('broadcast') && { broadcast_id: broadcastId && wireId('brd', broadcastId) }),
    ...countsView(counts, metrics),
  }
}

export function countsView(counts: MetricCounts, metrics: readonly Metric[]): Record<string, number> {
  const of: CountOf = metric => counts[metric] ?? 0
  const ofReal: CountOf = metric => of(metric) - (counts[`simulated_${metric}` as keyof MetricCounts] ?? 0)
  return Object.fromEntries(
    metrics.map(metric => [
      metric,
      metric in RATES ? RATES[metric as Rate](ofReal) : of(metric as keyof MetricCounts),
    ]),
  )
}

function ended(of: CountOf): number {
  return of('delivered') + of('bounced') + of('failed')
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000
}

function wallOf(timeZone: string): (at: number) => number {
  try {
    return localWallClock(timeZone)
  } catch (error) {
    if (error instanceof RangeError)
      throw invalidParameter('timezone', 'the name of a time zone, such as `Europe/Vienna`')
    throw error
  }
}

function namesOf<T extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly T[],
): T[] | undefined {
  const text = query.get(name) ?? ''
  if (text === '') return undefined
  return [...new Set(text.split(',').map(part => oneOf(known, name, part.trim())))]
}

function oneOf<T extends string>(known: readonly T[], name: string, text: string): T {
  const found = known.find(one => one === text)
  if (found === undefined)
    throw invalidParameter(name, `a list of values from ${known.join(', ')}, separated by commas`)
  return found
}

function idsOf(query: URLSearchParams, name: string, prefix: IdPrefix): Id[] | null {
  const text = query.get(name) ?? ''
  if (text === '') return null
  const ids = text.split(',').map(part => parseWireId(prefix, part.trim()))
  if (ids.includes(undefined) || ids.length > IDS_MAX)
    throw invalidParameter(name, `a list of at most ${IDS_MAX} ids, separated by commas`)
  return [...new Map((ids as Id[]).map(id => [idKey(id), id])).values()]
}
