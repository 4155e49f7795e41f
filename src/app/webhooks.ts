/**
 * Starts the thread that serves webhooks once there are any, and tells accounts whose webhooks were disabled:
 * a part of the composition root.
 */
import { Worker } from 'node:worker_threads'
import type { ClockSeat } from '../lib/adjustable-clock.ts'
import type { Timer } from '../lib/clock.ts'
import { startSweeper } from '../lib/sweeper.ts'
import { BUSY_THREAD } from '../lib/thread-memory.ts'
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
  /** Of the same clock. */
  clockSeat: ClockSeat | null
  accept: Accept
  preparation: Preparation
}

const RESTART_AFTER_MS = 1_000
const HOUR_MS = 3_600_000

/** @returns what stops it */
export async function startWebhookDispatch(options: DispatchOptions): Promise<() => Promise<void>> {
  const { store, clock, log } = options
  let current: { worker: Worker; ended: Promise<void> } | undefined
  let restart: Timer | undefined
  let isStopping = false

  const start = () => {
    if (current || isStopping) return
    const worker = openThread(options)
    worker.on('error', error => log.error({ err: error }, 'the webhook thread died'))
    const ended = new Promise<void>(resolve => worker.once('exit', () => resolve()))
    current = { worker, ended }
    void ended.then(() => {
      current = undefined
      if (!isStopping) restart = clock.timer(RESTART_AFTER_MS, start)
    })
  }
  store.on(WEBHOOK_CHANGED, start)
  if (await hasWebhooks(store.db)) start()
  const notices = startNotices(options)
  return async () => {
    isStopping = true
    restart?.cancel()
    await notices.stop()
    current?.worker.postMessage('stop')
    await current?.ended
  }
}

function startNotices({ config, store, clock, log, accept, preparation }: DispatchOptions) {
  const { mailHost } = config
  const from = parseMailbox(config.notices.from || `mailhorn@${mailHost}`)
  if ('fault' in from) throw new Error(`notices.from: ${from.fault}`)
  const sweeper = startSweeper({
    sweep: () => sendNotices({ db: store.db, run: store.run, accept, preparation, from, log }),
    everyMs: HOUR_MS,
    clock,
    onError: error =>
      log.error({ err: error }, 'an account could not be told of its webhook; it is tried again in an hour'),
  })
  store.on(WEBHOOK_DISABLED, sweeper.hurry)
  return sweeper
}

function openThread({ entry, config, store, secret, clockSeat }: DispatchOptions): Worker {
  const writer = store.connectThread()
  const data: WebhookThreadData = {
    ...{ writer, secret, clockSeat, location: store.location, mailHost: config.mailHost },
    resolvers: config.dns.resolvers,
    authorities: readAuthorities(config.delivery.caFile),
    allowLoopback: config.fetch.allowLoopback,
    allowInsecureLoopback: config.webhooks.allowInsecureLoopback,
    logLevel: config.log.level,
  }
  return new Worker(entry, {
    name: 'webhooks',
    workerData: data,
    transferList: [writer],
    resourceLimits: BUSY_THREAD,
  })
}
