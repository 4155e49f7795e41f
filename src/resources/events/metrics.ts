/**
 * Counters of events per quarter of an hour, for the account, each domain and each broadcast. They are
 * updated in the transaction that records the events. A quarter divides the offset of every time zone.
 * Deliveries to the simulator have separate counters, so that the others count real mail only.
 */
import { type Id, idKey, idText } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { Flag } from '../../store/model/schema.ts'
import { countForBroadcast } from './broadcast-counts.ts'
import type { EventData, EventType } from './types.ts'

/** Metrics with counters. Rates are computed from them. */
export const COUNTED_METRICS = [
  'sent',
  'delivered',
  'delivery_delayed',
  'bounced',
  'bounced_permanent',
  'bounced_transient',
  'bounced_undetermined',
  'complained',
  'suppressed',
  'failed',
  'opened',
  'unique_opened',
  'clicked',
  'unique_clicked',
  'received',
] as const
export type CountedMetric = (typeof COUNTED_METRICS)[number]
type SentMailMetric = Exclude<CountedMetric, 'received'>
export type SimulatedMetric = `simulated_${SentMailMetric}`

/** The same metrics for deliveries to the simulator. */
export const SIMULATED_METRICS = COUNTED_METRICS.filter(metric => metric !== 'received').map(simulatedMetric)

/** Attributes of an email by which its events are counted. */
export interface EmailOrigin {
  domainId: Id | null
  broadcastId: Id | null
  /** 1 for a delivery to the simulator, or for an email with simulator recipients only. */
  simulated: Flag
}

interface CountedEvent {
  accountId: Id
  type: EventType
  data: EventData
  at: number
  /** True if the recipient has opened or clicked the email before. */
  isRepeated?: boolean
  /** Number of equal events, 1 by default. Unique metrics count once in any case. */
  times?: number
}

export const QUARTER_MS = 900_000

/** @returns the number of the quarter since 1970 */
export function quarterOf(at: number): number {
  return Math.floor(at / QUARTER_MS)
}

/** @returns the quarter as a text of fixed length, so that texts sort like numbers (until the year 2255) */
export function periodOf(quarter: number): string {
  return String(quarter).padStart(7, '0')
}

/** LIKE pattern of the kinds of all metric counters. */
export const METRIC_KINDS = 'metrics.%'

/** @returns the kind of a counter; null stands for all domains or broadcasts */
export function metricKind(
  metric: CountedMetric | SimulatedMetric,
  domainId: Id | null,
  broadcastId: Id | null,
): string {
  const domain = domainId ? ` domain ${idText(domainId)}` : ''
  const broadcast = broadcastId ? ` broadcast ${idText(broadcastId)}` : ''
  return `metrics.${metric}${domain}${broadcast}`
}

/** Is called in the transaction that records the event. */
export function countEvent(
  tx: Tx,
  event: CountedEvent,
  { domainId, broadcastId, simulated }: EmailOrigin,
): void {
  const { accountId, times = 1 } = event
  const period = periodOf(quarterOf(event.at))
  for (const metric of metricsOf(event)) {
    const delta = metric.startsWith('unique_') ? 1 : times
    if (isReaction(metric)) countForBroadcast(tx, { accountId, broadcastId }, `reaction.${metric}`, delta)
    const name = countedAs(metric, simulated)
    const count = (domain: Id | null, broadcast: Id | null) =>
      tx.count(accountId, metricKind(name, domain, broadcast), period, delta)
    count(null, null)
    if (domainId) count(domainId, null)
    if (broadcastId) count(null, broadcastId)
    if (domainId && broadcastId) count(domainId, broadcastId)
  }
}

/**
 * Events with the same key are counted together.
 * @param event not a first reaction, which is counted separately
 */
export function metricsKey(event: CountedEvent & { origin: EmailOrigin | null }): string {
  const { accountId, at, origin } = event
  const domain = origin?.domainId ? idKey(origin.domainId) : '-'
  const broadcast = origin?.broadcastId ? idKey(origin.broadcastId) : '-'
  const mail = origin?.simulated ? 'simulated' : 'real'
  return `${idKey(accountId)}${domain}${broadcast}${quarterOf(at)} ${mail} ${metricsOf(event)}`
}

export function simulatedMetric(metric: SentMailMetric): SimulatedMetric {
  return `simulated_${metric}`
}

/** Maps a metric to the counter for simulated mail if necessary. */
export function countedAs(metric: CountedMetric, simulated: Flag): CountedMetric | SimulatedMetric {
  return simulated && metric !== 'received' ? simulatedMetric(metric) : metric
}

/** @returns the metrics that an event increments */
export function metricsOf({
  type,
  data,
  isRepeated = false,
}: Pick<CountedEvent, 'type' | 'data' | 'isRepeated'>): CountedMetric[] {
  switch (type) {
    case 'email.sent':
      return ['sent']
    case 'email.delivered':
      return ['delivered']
    case 'email.delivery_delayed':
      return ['delivery_delayed']
    case 'email.bounced':
      return ['bounced', bounceMetric(data)]
    case 'email.complained':
      return ['complained']
    case 'email.suppressed':
      return ['suppressed']
    case 'email.failed':
      return ['failed']
    case 'email.opened':
      return isRepeated ? ['opened'] : ['opened', 'unique_opened']
    case 'email.clicked':
      return isRepeated ? ['clicked'] : ['clicked', 'unique_clicked']
    case 'email.received':
      return ['received']
    default:
      return []
  }
}

function isReaction(metric: CountedMetric) {
  return (
    metric === 'opened' || metric === 'unique_opened' || metric === 'clicked' || metric === 'unique_clicked'
  )
}

function bounceMetric({ bounce }: EventData): CountedMetric {
  const { type } = (bounce ?? {}) as { type?: unknown }
  if (type === 'Permanent') return 'bounced_permanent'
  return type === 'Transient' ? 'bounced_transient' : 'bounced_undetermined'
}
