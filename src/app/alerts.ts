/** Starts what tells operators of alerts, and builds its routes. Part of the composition root. */
import { alertRoutes } from '../interfaces/api/alerts/routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { startSweeper } from '../lib/sweeper.ts'
import { testChannels } from '../pipeline/alerts/channel-test.ts'
import { type AlertRelay, createAlertRelay } from '../pipeline/alerts/relay.ts'
import { type AlertWebhook, createAlertWebhook, sendAlertNotices } from '../pipeline/alerts/webhook.ts'
import type { QueueAdmin } from '../pipeline/queue/queue-admin.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import { parseMailbox } from '../protocols/smtp/address.ts'
import { ALERT_CHANGED } from '../resources/alerts/operator-alerts.ts'
import { MISSED } from '../store/model/command.ts'
import type { AppContext, Sending } from './context.ts'
import { readAuthorities } from './delivery.ts'
import { noticeSender } from './notifications.ts'

/** Services that send alerts through a smart host when the queue does not deliver them, and cancel them. */
export interface AlertServices {
  queueAdmin: QueueAdmin
  /** Undefined when no smart host is configured for alerts. */
  alertRelay: AlertRelay | undefined
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/**
 * Starts to send alerts to the webhook of the configuration, if there is one and the process delivers mail.
 * @param baseUrl URL of the API
 * @returns the routes of alerts
 * @throws when the address of the sender of notices is invalid
 */
export function startAlerts(
  context: AppContext,
  sending: Sending,
  { relay, baseUrl }: { relay: AlertRelay | undefined; baseUrl: string },
): Route[] {
  const { config, store, clock, newId } = context
  const { db, run } = store
  const { accept, preparation } = sending
  const webhook = openAlertWebhook(context, baseUrl)
  const mail = { db, from: noticeSender(config), accept, preparation }
  if (webhook && config.roles.includes('all')) startNotices(context, webhook)
  return alertRoutes({ db, run, clock, test: () => testChannels({ webhook, mail, relay, clock, newId }) })
}

function startNotices({ config, store, clock, log, stack }: AppContext, webhook: AlertWebhook): void {
  const repeatMs = config.alerts.repeatHours * HOUR_MS
  const sweeper = startSweeper({
    task: 'send alerts',
    sweep: () => sendAlertNotices({ webhook, run: store.run, repeatMs, clock, random: Math.random, log }),
    everyMs: MINUTE_MS,
    clock,
    onError: error =>
      log.error({ event: 'alerts_failed', err: error }, 'Alerts could not be sent; retrying in 1 min'),
  })
  stack.defer(sweeper.stop)
  store.on(ALERT_CHANGED, sweeper.runSoon)
  store.on(MISSED, sweeper.runSoon)
}

/** The operator has chosen the host, so that its address may be private, as that of `acme.directory_url`. */
function openAlertWebhook({ config, clock, stack }: AppContext, baseUrl: string): AlertWebhook | undefined {
  const { alerts, mailHost, dns } = config
  if (alerts.webhookUrl === null) return undefined
  const resolver = createResolver({ servers: dns.resolvers, clock })
  const outbound = createOutbound({ resolver, clock, allowPrivate: true, allowInsecureLoopback: true })
  stack.defer(resolver.close)
  stack.defer(outbound.close)
  return createAlertWebhook({
    url: alerts.webhookUrl,
    format: alerts.webhookFormat,
    secret: alerts.webhookSecret,
    installation: { name: mailHost, alertsUrl: `${baseUrl}/dashboard/deliverability` },
    outbound,
    clock,
  })
}

/**
 * @returns undefined when no smart host is configured for alerts
 * @throws when the address of the sender is invalid
 */
export function openAlertRelay({
  config,
  clock,
  stack,
}: Pick<AppContext, 'config' | 'clock' | 'stack'>): AlertRelay | undefined {
  const { alerts, mailHost, dns, delivery } = config
  if (alerts.smartHost === null) return undefined
  const own = alerts.smartHostFrom === '' ? noticeSender(config) : parseMailbox(alerts.smartHostFrom)
  if ('fault' in own) throw new Error(`alerts.smart_host_from: ${own.fault}`)
  const resolver = createResolver({ servers: dns.resolvers, clock })
  stack.defer(resolver.close)
  return createAlertRelay({
    smartHost: alerts.smartHost,
    from: own,
    localName: mailHost,
    resolver,
    clock,
    authorities: readAuthorities(delivery.caFile),
    random: Math.random,
  })
}
