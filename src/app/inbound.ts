/**
 * The SMTP listener for inbound mail, and the processing of received messages and reports. Part of the
 * composition root.
 */

import type { AddressInfo } from 'node:net'
import type { Id } from '../lib/ids.ts'
import { networks } from '../lib/networks.ts'
import { createAccountRoutes } from '../pipeline/inbound/account-routes.ts'
import { startBounceProcessor } from '../pipeline/inbound/bounce-processor.ts'
import { InboundProcessor } from '../pipeline/inbound/inbound-processor.ts'
import { countInbox } from '../pipeline/inbound/inbox-counts.ts'
import { createIngestLoad, type IngestLoad } from '../pipeline/inbound/ingest-load.ts'
import { type InboundListenerOptions, startInboundListener } from '../pipeline/inbound/listener.ts'
import { createMailReader } from '../pipeline/inbound/mail-reader.ts'
import { createMailReport } from '../pipeline/inbound/mail-report.ts'
import { createJudging, type JudgeMail } from '../pipeline/inbound/message-verdicts.ts'
import { createRcptPolicy } from '../pipeline/inbound/rcpt-policy.ts'
import {
  createRecentMessageCache,
  type RecentMessageCache,
} from '../pipeline/inbound/recent-message-cache.ts'
import { localRecipientOf } from '../pipeline/inbound/recipients.ts'
import { createReportReader } from '../pipeline/inbound/report-reader.ts'
import { createRouting, type MailRouting } from '../pipeline/inbound/routing.ts'
import { createVerdicts, type VerdictMaker } from '../pipeline/inbound/verdicts/verdicts.ts'
import { HOSTING_CHANGED } from '../resources/domains/domain-rows.ts'
import { createHostedDomains, type HostedDomains } from '../resources/domains/hosted.ts'
import { INBOUND_ROUTES_CHANGED } from '../resources/emails/inbound-routes.ts'
import { INBOUND_STORED } from '../resources/emails/inbound-rows.ts'
import { createBlobReservations } from '../store/blobs/reservations.ts'
import { MISSED } from '../store/model/command.ts'
import type { AppContext, Sending } from './context.ts'
import { fdBudget } from './fd-budget.ts'

/**
 * @returns the address of the listener; null when it is off
 * @throws when the listener cannot be bound or a certificate cannot be read
 */
export async function startInboundService(
  context: AppContext,
  sending: Sending,
): Promise<AddressInfo | null> {
  const { config, clock, log, store, security, metrics, stack } = context
  const { mailHost } = config
  const { listen, connectionsPerMinute } = config.smtp.inbound
  if (listen === null || !config.roles.includes('all')) return null
  const feedback = startBounceProcessor({
    db: store.db,
    blobs: store.blobs,
    run: store.run,
    reader: createReportReader(context.workers.readers),
    secrets: security.secrets,
    clock,
    log,
  })
  stack.defer(feedback.stop)
  const recentMessages = createRecentMessageCache(clock)
  const ingestLoad = createIngestLoad(clock)
  startInboxes(context, { recentMessages, ingestLoad, sending })
  const take = createTake(context, recentMessages)
  const listener = await startInboundListener({
    listen,
    mailHost,
    certificates: security.certificates,
    connectionsMax: fdBudget(config).smtp,
    trustedProxies: networks(config.smtp.trustedProxies),
    newPerMinute: connectionsPerMinute,
    isClosed: () => context.serviceMode.current.mode === 'read-only',
    admit: createRcptPolicy({
      reportRecipientOf: recipient =>
        localRecipientOf(recipient, clock.now(), { secrets: security.secrets, mailHost }),
      hosted: followHostedDomains(context),
    }),
    openBlob: () => store.blobs.receive(),
    async take(mail) {
      await take(mail)
      if (mail.reports.length > 0) feedback.note()
    },
    ingestLoad,
    report: createMailReport({ metrics, log, clock }, 'inbound'),
    clock,
    log,
  })
  stack.defer(listener.close)
  return listener.address()
}

interface InboxParts {
  recentMessages: RecentMessageCache
  ingestLoad: IngestLoad
  sending: Sending
}

/** Starts the processing of received messages, small and large ones apart. */
function startInboxes(context: AppContext, { recentMessages, ingestLoad, sending }: InboxParts): void {
  const { config, clock, log, store, metrics, stack, workers } = context
  const verdicts = createVerdictMaker(context)
  stack.defer(verdicts.close)
  const reader = createMailReader({
    entry: new URL('../workers/inbound.ts', import.meta.url),
    mailHost: config.mailHost,
    readers: workers.readers,
    run: store.run,
    metrics,
    clock,
    log,
  })
  const judge = createJudging({ judge: judgeBy(verdicts), clock, log })
  const routing = openRouting(context, sending)
  const counts = countInbox(metrics)
  const inboxes = (['small', 'large'] as const).map(sizes => {
    const inbox = new InboundProcessor({
      sizes,
      db: store.db,
      blobs: store.blobs,
      recentMessages,
      ingestLoad,
      run: store.run,
      reader,
      judge,
      routing,
      counts,
      clock,
      log,
    })
    store.on(INBOUND_STORED[sizes], () => inbox.note())
    store.on(MISSED, () => inbox.note())
    return inbox
  })
  stack.defer(async () => {
    await Promise.all(inboxes.map(inbox => inbox.stop()))
  })
}

/** Opens the routing of received mail by the accounts' routes. */
function openRouting(
  { config, store, clock, log }: AppContext,
  { accept, preparation }: Sending,
): MailRouting {
  const { db, blobs } = store
  const routes = createAccountRoutes({ db, clock })
  store.on(INBOUND_ROUTES_CHANGED, accountIds => routes.forget(accountIds as Id[]))
  store.on(MISSED, () => routes.forget())
  return createRouting({ routes, accept, preparation, db, blobs, mailHost: config.mailHost, log })
}

function followHostedDomains({ store, clock }: AppContext): HostedDomains {
  const hosted = createHostedDomains({ db: store.db, clock })
  store.on(HOSTING_CHANGED, names => hosted.forget(names as string[]))
  store.on(MISSED, () => hosted.forget())
  return hosted
}

function createVerdictMaker({ config, store, metrics, clock, log }: AppContext): VerdictMaker {
  const { mailHost, dns, spam, virus } = config
  return createVerdicts({
    entry: new URL('../workers/verdict.ts', import.meta.url),
    location: store.location,
    mailHost,
    resolvers: dns.resolvers,
    filters: { ...spam, ...virus },
    logLevel: config.log.level,
    metrics,
    clock,
    log,
  })
}

function judgeBy({ judge }: VerdictMaker): JudgeMail {
  return ({ rawHash: blobHash, bytes, sender: mailFrom, helo, clientIp, recipients, receivedAt }) =>
    judge({ blobHash, bytes, clientIp, helo: helo ?? '', mailFrom, recipients, receivedAt })
}

function createTake(
  { store, clock, log }: AppContext,
  recentMessages: RecentMessageCache,
): InboundListenerOptions['take'] {
  const reservations = createBlobReservations({
    blobs: store.blobs,
    db: store.db,
    onLeftBehind: error =>
      log.warn(
        { event: 'file_not_removed', err: error },
        'A file of a received message could not be removed',
      ),
  })
  return async mail => {
    const reservation = reservations.open([mail.blob])
    let isSettled = false
    try {
      await reservation.place([mail.blob])
      if (mail.messages.length > 0) recentMessages.keep(mail.blob)
      await store.run('receiveMail', { ...mail, at: clock.now() })
      isSettled = true
    } finally {
      await reservation.end(isSettled)
    }
  }
}
