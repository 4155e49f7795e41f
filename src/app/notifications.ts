/**
 * Starts what tells others of events: the webhook worker once there are webhooks, notices of disabled
 * webhooks to accounts, delivery status notifications to senders of SMTP submission, and TLS reports to
 * domains. Part of the composition root.
 */
import type { Config } from '../config/config.ts'
import { type Sweeper, startSweeper } from '../lib/sweeper.ts'
import { BUSY_THREAD } from '../lib/thread-memory.ts'
import { SupervisedWorker } from '../lib/worker.ts'
import { sendDsnNotices } from '../pipeline/delivery/dsn/notice-sender.ts'
import { sendTlsReports } from '../pipeline/delivery/tls-reporter.ts'
import { WEBHOOK_CHANGED, WEBHOOK_DISABLED } from '../pipeline/webhooks/commands.ts'
import { sendNotices } from '../pipeline/webhooks/notices.ts'
import { hasWebhooks } from '../pipeline/webhooks/webhook-rows.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import { type Mailbox, parseMailbox } from '../protocols/smtp/address.ts'
import { DSN_DUE } from '../resources/events/dsn-notices.ts'
import { MISSED } from '../store/model/command.ts'
import type { WebhookThreadData } from '../workers/webhook.ts'
import type { AppContext, Sending } from './context.ts'
import { readAuthorities } from './delivery.ts'

const HOUR_MS = 3_600_000
/** Interval after a failure, and for delivery status notifications that were refused temporarily. */
const DSN_RETRY_MS = 10 * 60_000

/** Starts webhooks and notifications. Resolves when due webhooks have been looked up. */
export async function startNotifications(context: AppContext, sending: Sending): Promise<void> {
  const { store, clock, log, stack } = context
  const worker = new SupervisedWorker({
    name: 'webhooks',
    entry: new URL('../workers/webhook.ts', import.meta.url),
    limits: BUSY_THREAD,
    open: () => threadData(context),
    clock,
    log,
  })
  stack.defer(async () => {
    await worker.stop()
  })
  store.on(WEBHOOK_CHANGED, () => worker.startOnce())
  if (await hasWebhooks(store.db)) worker.startOnce()
  stack.adopt(startWebhookNotices(context, sending), notices => notices.stop())
  stack.adopt(startDsnNotices(context, sending), notices => notices.stop())
}

/** @throws when the address of the sender of notices is invalid */
export function noticeSender({ notices, mailHost }: Config): Mailbox {
  const from = parseMailbox(notices.from || `mailhorn@${mailHost}`)
  if ('fault' in from) throw new Error(`notices.from: ${from.fault}`)
  return from
}

function startWebhookNotices(
  { config, store, clock, log }: AppContext,
  { accept, preparation }: Sending,
): Sweeper {
  const from = noticeSender(config)
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
  store.on(WEBHOOK_DISABLED, sweeper.runSoon)
  return sweeper
}

/** Sends delivery status notifications as soon as they are due. */
function startDsnNotices(
  { config, store, clock, log }: AppContext,
  { accept, preparation }: Sending,
): Sweeper {
  const { db, run, blobs } = store
  const { mailHost } = config
  const sweeper = startSweeper({
    task: 'send delivery status notifications',
    sweep: () => sendDsnNotices({ db, run, blobs, accept, preparation, mailHost, now: clock.now, log }),
    everyMs: DSN_RETRY_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'dsn_failed', err: error },
        'Delivery status notifications could not be sent; retrying in 10 min',
      ),
  })
  store.on(DSN_DUE, sweeper.runSoon)
  store.on(MISSED, sweeper.runSoon)
  return sweeper
}

function threadData({ config, store, workers }: AppContext) {
  const writer = store.connectThread()
  const data: WebhookThreadData = {
    writer,
    secret: workers.secret,
    clockSeat: workers.clockSeat,
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

/**
 * Sends the daily TLS reports (RFC 8460), if a sender is configured.
 * @throws when the address of the sender is invalid
 */
export function startTlsReports(
  { config, store, clock, log, stack }: AppContext,
  { accept, preparation }: Sending,
): void {
  const { mailHost, delivery, dns } = config
  if (delivery.tlsReportsFrom === null || !config.roles.includes('all')) return
  const from = parseMailbox(delivery.tlsReportsFrom)
  if ('fault' in from) throw new Error(`delivery.tls_reports_from: ${from.fault}`)
  const resolver = createResolver({ servers: dns.resolvers, clock })
  const outbound = createOutbound({
    resolver,
    clock,
    allowLoopback: config.fetch.allowLoopback,
    authorities: readAuthorities(delivery.caFile),
  })
  const { db, run } = store
  const options = { db, run, accept, preparation, outbound, resolver, clock, log, from, mailHost }
  const sweeper = startSweeper({
    task: 'send TLS reports',
    sweep: () => sendTlsReports(options),
    everyMs: HOUR_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'tls_reports_failed', err: error },
        'TLS reports could not be sent; retrying in 1 h',
      ),
  })
  stack.defer(sweeper.stop)
  stack.defer(resolver.close)
  stack.defer(outbound.close)
}
