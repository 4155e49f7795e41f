/**
 * Starts the webhook worker once there are webhooks, and notifies accounts whose webhooks were disabled. Part
 * of the composition root.
 */
import type { ClockSeat } from '../lib/adjustable-clock.ts'
import { startSweeper } from '../lib/sweeper.ts'
import { BUSY_THREAD } from '../lib/thread-memory.ts'
import { SupervisedWorker } from '../lib/worker.ts'
import type { Accept } from '../pipeline/accept/accept.ts'
import type { Preparation } from '../pipeline/accept/prepare.ts'
import { WEBHOOK_CHANGED, WEBHOOK_DISABLED } from '../pipeline/webhooks/commands.ts'
import { sendNotices } from '../pipeline/webhooks/notices.ts'
import { hasWebhooks } from '../pipeline/webhooks/webhook-rows.ts'
import { parseMailbox } from '../protocols/smtp/address.ts'
import type { WebhookThreadData } from '../workers/webhook.ts'
import type { AppContext } from './context.ts'
import { readAuthorities } from './delivery-settings.ts'

interface DispatchOptions extends AppContext {
  entry: URL
  secret: Uint8Array
  /** Handle of the test clock for the worker; null with the system clock. */
  clockSeat: ClockSeat | null
  accept: Accept
  preparation: Preparation
}

const HOUR_MS = 3_600_000

/** @returns a function that stops the worker and the notices */
export async function startWebhookDispatch(options: DispatchOptions): Promise<() => Promise<void>> {
  const { store, clock, log } = options
  const worker = new SupervisedWorker({
    name: 'webhooks',
    entry: options.entry,
    limits: BUSY_THREAD,
    open: () => threadData(options),
    clock,
    log,
  })
  let isStopping = false
  const start = () => {
    if (!worker.isStarted() && !isStopping) worker.startInBackground()
  }
  store.on(WEBHOOK_CHANGED, start)
  if (await hasWebhooks(store.db)) start()
  const notices = startNotices(options)
  return async () => {
    isStopping = true
    await notices.stop()
    await worker.stop()
  }
}

function startNotices({ config, store, clock, log, accept, preparation }: DispatchOptions) {
  const { mailHost } = config
  const from = parseMailbox(config.notices.from || `mailhorn@${mailHost}`)
  if ('fault' in from) throw new Error(`notices.from: ${from.fault}`)
  const sweeper = startSweeper({
    task: 'send notices of disabled webhooks',
    sweep: () => sendNotices({ db: store.db, run: store.run, accept, preparation, from, log }),
    everyMs: HOUR_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'webhook_notice_failed', err: error },
        'Notices of disabled webhooks could not be sent; retrying in 1 h',
      ),
  })
  store.on(WEBHOOK_DISABLED, sweeper.hurry)
  return sweeper
}

function threadData({ config, store, secret, clockSeat }: DispatchOptions) {
  const writer = store.connectThread()
  const data: WebhookThreadData = {
    writer,
    secret,
    clockSeat,
    location: store.location,
    mailHost: config.mailHost,
    resolvers: config.dns.resolvers,
    authorities: readAuthorities(config.delivery.caFile),
    allowLoopback: config.fetch.allowLoopback,
    allowInsecureLoopback: config.webhooks.allowInsecureLoopback,
    logLevel: config.log.level,
  }
  return { data, transfer: [writer] }
}
