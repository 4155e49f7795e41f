/**
 * Metrics of the service: HTTP requests, mail, the queue, webhooks and the database. In: figures of the
 * writer, the view of the queue, and each request. Out: `/metrics`. Part of the composition root.
 */
import { metricsRoutes } from '../interfaces/api/health/metric-routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import type { CountRequest } from '../interfaces/api/server/record-requests.ts'
import { within } from '../lib/clock.ts'
import { createHistogram, DURATION_BOUNDS_SECONDS } from '../lib/histogram.ts'
import type { Labels, Metrics } from '../lib/metrics.ts'
import { attemptDurations, attemptResults, sessionErrors } from '../pipeline/queue/attempt-figures.ts'
import { SERVICE_MODES } from '../pipeline/queue/service-mode.ts'
import { type QueueQuestion, type QueueView, WHOLE_QUEUE } from '../pipeline/queue/view.ts'
import { WEBHOOK_FIGURES } from '../pipeline/webhooks/dispatch-commands.ts'
import { ACCEPTED_FIGURE, deliveryFigure } from '../resources/events/record.ts'
import { DELIVERY_CLASS, type DeliveryStatus } from '../store/model/schema.ts'
import type { AppContext } from './context.ts'
import { registerMachine } from './machine-metrics.ts'
import { version } from './version.ts'

/** New statuses of deliveries with the words of the metric. */
const RESULTS = [
  ['delivered', 'delivered'],
  ['deferred', 'delivery_delayed'],
  ['bounced', 'bounced'],
  ['failed', 'failed'],
  ['suppressed', 'suppressed'],
  ['complained', 'complained'],
  ['canceled', 'canceled'],
] as const satisfies [string, DeliveryStatus][]
/** @param isOpen whether clients need no token if none is set */
export type MetricsRoutesOf = (listener: { isOpen: boolean }) => Route[]

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx']
/** Time that a report waits for the queue. */
const QUEUE_WAIT_MS = 2_000

/** Registers the metrics of requests. */
export function countRequests(metrics: Metrics): CountRequest {
  const counts = CLASSES.map(() => 0)
  const durations = createHistogram(DURATION_BOUNDS_SECONDS)
  metrics.total('http_requests', 'HTTP requests by class of the status.', () =>
    CLASSES.map((name, i): [Labels, number] => [{ class: name }, counts[i]!]),
  )
  metrics.histogram(
    'http_request_duration_seconds',
    'Time from the head of a request to its reply.',
    durations.read,
  )
  return (status, ms) => {
    counts[Math.floor(status / 100) - 1]!++
    durations.observe(ms / 1_000)
  }
}

/**
 * Registers the metrics of mail, queue, webhooks and database.
 * @returns a function that makes the routes that serve all metrics
 */
export function openMetrics(context: AppContext): MetricsRoutesOf {
  const { config, metrics, store, workers, serviceMode, clock } = context
  const tally = (name: string) => store.figures().tallies[name] ?? 0
  const read = (pairs: readonly (readonly [Labels, string])[]) => () =>
    pairs.map(([labels, name]): [Labels, number] => [labels, tally(name)])
  metrics.gauge('build_info', 'Version of the program.', () => [[{ version }, 1]])
  metrics.gauge('service_mode', 'Mode of the service: 1 for the present one.', () =>
    SERVICE_MODES.map((mode): [Labels, number] => [{ mode }, serviceMode.current.mode === mode ? 1 : 0]),
  )
  metrics.total('emails_accepted', 'Emails that were accepted.', () => tally(ACCEPTED_FIGURE))
  metrics.total(
    'deliveries',
    'Results of deliveries, one per recipient.',
    read(RESULTS.map(([result, status]) => [{ result }, deliveryFigure(status)])),
  )
  metrics.total(
    'webhook_attempts',
    'Attempts to deliver an event to a webhook.',
    read([
      [{ result: 'delivered' }, WEBHOOK_FIGURES.delivered],
      [{ result: 'failed' }, WEBHOOK_FIGURES.failed],
    ]),
  )
  metrics.total('database_commands', 'Commands of the database writer.', () => store.figures().commandCount)
  metrics.histogram(
    'database_batch_duration_seconds',
    'Duration of batches of commands with their commit.',
    () => store.figures().durations,
  )
  metrics.histogram(
    'database_batch_commands',
    'Number of commands in a batch, which share one commit.',
    () => store.figures().sizes,
  )
  metrics.total('delivery_attempts', 'Delivery attempts by result, mailbox provider and bounce class.', () =>
    attemptResults(store.figures().tallies),
  )
  metrics.histogram(
    'delivery_attempt_duration_seconds',
    'Duration of delivery attempts over a connection.',
    () => attemptDurations(store.figures().tallies),
  )
  metrics.total(
    'delivery_session_errors',
    'Sessions with hosts that ended before mail could be sent, by phase.',
    () => sessionErrors(store.figures().tallies),
  )
  const refreshQueue = registerQueue(metrics, question =>
    within(clock, QUEUE_WAIT_MS, workers.reader.viewQueue({ ...question, now: clock.now() })),
  )
  const refreshMachine = registerMachine(context)
  const refresh = async () => void (await Promise.all([refreshQueue(), refreshMachine()]))
  return ({ isOpen }) => metricsRoutes({ metrics, token: config.metrics.token, isOpen, refresh })
}

const QUEUE_CLASSES = Object.entries(DELIVERY_CLASS)

/**
 * Registers the metrics of the queue, which are absent while it cannot be read.
 * @returns a function that reads the queue for the next report
 */
function registerQueue(
  metrics: Metrics,
  view: (question: Omit<QueueQuestion, 'now'>) => Promise<QueueView | undefined>,
): () => Promise<void> {
  let queues: [string, QueueView][] = []
  metrics.gauge('queue_deliveries', 'Deliveries in the queue, by class and state.', () =>
    queues.flatMap(([name, { totals }]): [Labels, number][] => [
      [{ class: name, state: 'never_tried' }, totals.neverTried],
      [{ class: name, state: 'deferred' }, totals.deferred],
      [{ class: name, state: 'in_progress' }, totals.underWay],
      [{ class: name, state: 'held' }, totals.held],
    ]),
  )
  metrics.gauge('queue_oldest_seconds', 'Age of the oldest email in the queue, by class.', () =>
    queues.map(([name, { at, oldestAt }]): [Labels, number] => [
      { class: name },
      Math.max(0, at - (oldestAt ?? at)) / 1_000,
    ]),
  )
  return async () => {
    const read: typeof queues = []
    for (const [name, deliveryClass] of QUEUE_CLASSES) {
      const queue = await view({ ...WHOLE_QUEUE, class: deliveryClass }).catch(() => undefined)
      if (queue) read.push([name, queue])
    }
    queues = read
  }
}
