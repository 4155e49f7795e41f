/**
 * What events add up to: counters a quarter of an hour, for the account, and for each domain and broadcast,
 * kept in the transaction that records the events. Quarters, since every offset of a time zone is a multiple
 * of one. Events of deliveries to the simulator have counters of their own: whoever reads the others reads of
 * real mail alone.
 */
import { type Id, idKey, idText } from '../../lib/ids.ts'
import type { Tx } from '../../store/command.ts'
import type { Flag } from '../../store/schema.ts'
import { countForBroadcast } from './broadcast-counts.ts'
import type { EventData, EventType } from './types.ts'

/** Counted as events happen; rates are worked out of them. */
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

/** The same for deliveries to the simulator. */
export const SIMULATED_METRICS = COUNTED_METRICS.filter(metric => metric !== 'received').map(simulatedMetric)

/** Where an email came from, by which its events are counted. */
export interface EmailOrigin {
  domainId: Id | null
  broadcastId: Id | null
  /** 1: of a delivery to the simulator, or of an email to nobody else. */
  simulated: Flag
}

interface CountedEvent {
  accountId: Id
  type: EventType
  data: EventData
  at: number
  /** The recipient had done the like before; for opens and clicks. */
  isRepeated?: boolean
  /** Once, where nothing is said; that somebody does it for the first time is counted once in any case. */
  times?: number
}

export const QUARTER_MS = 900_000

/** Number of the quarter of an hour since 1970. */
export function quarterOf(at: number): number {
  return Math.floor(at / QUARTER_MS)
}

/** As counters name it: digits, always as many, so that texts order as numbers do (until the year 2255). */
export function periodOf(quarter: number): string {
  return String(quarter).padStart(7, '0')
}

/** What all counters of metrics are called, and nothing else. */
export const METRIC_KINDS = 'metrics.%'

/** The name of a counter; null stands for all. */
export function metricKind(
  metric: CountedMetric | SimulatedMetric,
  domainId: Id | null,
  broadcastId: Id | null,
): string {
  const domain = domainId ? ` domain ${idText(domainId)}` : ''
  const broadcast = broadcastId ? ` broadcast ${idText(broadcastId)}` : ''
  return `metrics.${metric}${domain}${broadcast}`
}

/** Part of a command that records the event. */
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
 * What is counted alike has the same key. @param event none of a reaction, whose first time is counted apart
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

/** The counter of a metric, which another one is where the mail was simulated. */
export function countedAs(metric: CountedMetric, simulated: Flag): CountedMetric | SimulatedMetric {
  return simulated && metric !== 'received' ? simulatedMetric(metric) : metric
}

/** What an event counts as. */
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
