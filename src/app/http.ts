/**
 * The HTTP service: builds the routes of the API, starts the listeners, and starts what the routes need. Part
 * of the composition root.
 */

import type { Config } from '../config/config.ts'
import { type SessionCookie, sessionCookie } from '../interfaces/api/auth/cookie.ts'
import { createReadBody } from '../interfaces/api/body/body.ts'
import { createLargeBodies } from '../interfaces/api/body/large-bodies.ts'
import { broadcastProviderRoutes } from '../interfaces/api/broadcasts/provider-routes.ts'
import { broadcastRecipientRoutes } from '../interfaces/api/broadcasts/recipient-routes.ts'
import { batchRoutes } from '../interfaces/api/emails/batch-routes.ts'
import { emailListRoutes } from '../interfaces/api/emails/list-routes.ts'
import { emailMetricsRoutes } from '../interfaces/api/emails/metric-routes.ts'
import { rawEmailRoutes } from '../interfaces/api/emails/raw-routes.ts'
import { scheduledEmailRoutes } from '../interfaces/api/emails/scheduled-routes.ts'
import { emailRoutes } from '../interfaces/api/emails/send-routes.ts'
import { shareRoutes } from '../interfaces/api/emails/share-routes.ts'
import { viewRoutes } from '../interfaces/api/emails/view-routes.ts'
import { waitingEmailRoutes } from '../interfaces/api/emails/waiting-routes.ts'
import { HEALTH_PATH, healthRoutes } from '../interfaces/api/health/routes.ts'
import { openapiRoutes } from '../interfaces/api/openapi/routes.ts'
import type { DashboardPages } from '../interfaces/api/pages/pages.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { namingUnapplied } from '../interfaces/api/route/unapplied-fields.ts'
import { createHttpApp } from '../interfaces/api/server/app.ts'
import { createClientAddress } from '../interfaces/api/server/client-address.ts'
import { createSpendRequest } from '../interfaces/api/server/rate-limit.ts'
import { headersOfAll } from '../interfaces/api/server/security-headers.ts'
import { endingFirst, type HttpServer } from '../interfaces/api/server/server.ts'
import { UnreadReplies } from '../interfaces/api/server/unread-replies.ts'
import { suppressionFileRoutes } from '../interfaces/api/suppressions/file-routes.ts'
import { suppressionRoutes } from '../interfaces/api/suppressions/routes.ts'
import { templateRoutes } from '../interfaces/api/templates/routes.ts'
import { usageRoutes } from '../interfaces/api/usage/routes.ts'
import { CHALLENGE_PATH, wellKnownRoutes } from '../interfaces/api/well-known/routes.ts'
import { type ControlServer, startControlServer } from '../interfaces/cli/control/server.ts'
import { openPages } from '../interfaces/dashboard/pages.ts'
import { previewOf } from '../interfaces/dashboard/preview.ts'
import type { Clock } from '../lib/clock.ts'
import { hostPort } from '../lib/host-port.ts'
import { machineMemoryBytes, unreadReplyBytes } from '../lib/machine-memory.ts'
import { type Accept, createAccept } from '../pipeline/accept/accept.ts'
import { createFetchAttachments } from '../pipeline/accept/fetch-attachments.ts'
import { createPreparation } from '../pipeline/accept/prepare.ts'
import { createQueueAdmin, type QueueAdmin } from '../pipeline/queue/queue-admin.ts'
import type { Outbound } from '../protocols/http-client/outbound.ts'
import type { AccessTokens } from '../resources/accounts/access-tokens.ts'
import type { ApiKeys } from '../resources/accounts/api-keys.ts'
import { type FirstRun, prepareFirstRun } from '../resources/accounts/first-run.ts'
import { createRateLimit, type RateLimit } from '../resources/accounts/rate-limit.ts'
import type { LinkTermsIds } from '../resources/emails/link-terms.ts'
import { EventFeed } from '../resources/events/feed.ts'
import type { RequestLog } from '../resources/request-log/request-log.ts'
import { createReadyTemplates } from '../resources/templates/ready.ts'
import { type BlobReservations, createBlobReservations } from '../store/blobs/reservations.ts'
import { MTA_STS_MODE, readSetting } from '../store/reading/settings.ts'
import { type ApiAccess, openAccess } from './access.ts'
import { type AlertServices, openAlertRelay } from './alerts.ts'
import type { Backups } from './backups.ts'
import { openBroadcasts } from './broadcasts.ts'
import type { AppContext, Sending } from './context.ts'
import { policyOf, zoneRecords } from './dns.ts'
import { runDoctor } from './doctor.ts'
import { HttpListeners } from './listeners.ts'
import { countRequests, openMetrics } from './metrics.ts'
import { startTlsReports } from './notifications.ts'
import { operatorRoutesOf } from './operator-routes.ts'
import type { Readiness } from './readiness.ts'
import { logRoutesOf, startRequestLog } from './request-log.ts'
import { audienceRoutesOf, eventRoutesOf, fileRoutesOf, installationRoutesOf } from './resource-routes.ts'
import { type SendingDomains, startDomains } from './sending-domains.ts'
import { smtpTestRoutesOf } from './smtp-test.ts'
import { startTracking } from './tracking.ts'
import { startUserOutbound } from './user-outbound.ts'

const HOUR_MS = 3_600_000
/** Folder that `scripts/build-dashboard.js` writes. */
const DASHBOARD = new URL('../../dist/dashboard', import.meta.url).pathname

/** Parts that the caller has started. */
interface BegunParts {
  readiness: Readiness
  /** Undefined when none are scheduled. */
  backups: Backups | undefined
}

interface HttpService extends Sending, AlertServices {
  server: HttpServer
  /** Address of the TLS listener; null when it is off. */
  secureAddress: { address: string; port: number } | null
  /** Address of the listener for metrics; null when it is off. */
  metricsAddress: { address: string; port: number } | null
  /** URL of the API. */
  baseUrl: string
  firstRun: FirstRun | undefined
  apiKeys: ApiKeys
  accessTokens: AccessTokens
  /** Undefined when the rate is not limited. */
  rateLimit: RateLimit | undefined
}

/**
 * Starts the HTTP service. The caller closes the server first when the service stops; everything else is on
 * the stack.
 */
export async function startHttpService(context: AppContext, begun: BegunParts): Promise<HttpService> {
  const { config, clock, log, metrics, newId, stack, store, workers } = context
  const cookie = sessionCookie(config.http.baseUrl)
  const clientAddressOf = createClientAddress(config.http.trustedProxies)
  const access = openAccess(context, { cookie, clientAddressOf })
  const { apiKeys, accessTokens } = access
  const rateLimit = rateLimitOf(config, clock)
  const requestLog = startRequestLog(context)
  const feed = new EventFeed({ db: store.db, find: store.find, clock, isShared: store.isShared })
  const queueAdmin = createQueueAdmin({ db: store.db, run: store.run, clock, newId })
  await queueAdmin.recover()
  const alertRelay = openAlertRelay(context)
  const firstRun = await prepareFirstRunOf(context)
  const headers = headersOfAll(config.http.baseUrl)
  const listeners = new HttpListeners(context, headers)
  const plain = await listeners.bindPlain()
  const baseUrl = baseUrlOf(config, plain.address())
  const { sending, links, broadcasts } = await openSending(context, queueAdmin, baseUrl)
  const domains = startDomains(context, baseUrl)
  const metricsRoutesOf = openMetrics(context)
  const routes = routesOf(context, {
    ...begun,
    metricsRoutes: metricsRoutesOf({ isOpen: false }),
    access,
    requestLog,
    feed,
    queueAdmin,
    alertRelay,
    sending,
    domains,
    broadcastRoutes: broadcasts.routes,
    linkRoutes: links.routes,
    baseUrl,
  })
  stack.defer((await startControl(context, sending, domains)).close)
  const largeBodies = createLargeBodies(workers.readers, context.largeInput)
  const countRequest = countRequests(metrics)
  const unreadReplies = new UnreadReplies(unreadReplyBytes(machineMemoryBytes()), clock)
  const createApp = (offered: readonly Route[], pages?: DashboardPages) =>
    createHttpApp({
      isLinkHost: links.isHost,
      routes: offered,
      pages,
      findCredential: access.find,
      clientAddressOf,
      readBody: createReadBody(largeBodies, sending.preparation),
      headers,
      spendRequest: rateLimit && createSpendRequest(rateLimit),
      requestLog,
      countRequest,
      serviceMode: context.serviceMode,
      unreadReplies,
      clock,
      log,
    })
  const open = [...metricsRoutesOf({ isOpen: true }), ...routes.filter(({ path }) => path === HEALTH_PATH)]
  const metricsAddress = await listeners.startMetrics(createApp(open))
  await listeners.startChallenges(createApp(routes.filter(({ path }) => path === CHALLENGE_PATH)))
  const app = createApp([...routes, ...openapiRoutesOf(config, routes, cookie)], {
    find: openPages(DASHBOARD).find,
    preview: previewOf,
    enter: largeBodies.enter,
  })
  const addresses = { secureAddress: await listeners.startSecure(app), metricsAddress, baseUrl }
  plain.serve(app)
  broadcasts.start()
  const server = endingFirst(feed, plain)
  const credentials = { firstRun, apiKeys, accessTokens }
  return { server, ...sending, queueAdmin, alertRelay, ...addresses, ...credentials, rateLimit }
}

/** Opens the acceptance of emails, and what sends emails by itself: broadcasts and TLS reports. */
async function openSending(context: AppContext, queueAdmin: QueueAdmin, baseUrl: string) {
  const { store } = context
  const preparation = createPreparation({
    findTemplate: createReadyTemplates(store.find),
    blobs: store.blobs,
  })
  const outbound = startUserOutbound(context)
  const links = await startTracking(context, baseUrl)
  const reservations = openReservations(context)
  const accept = openAccept(context, outbound, links.terms, reservations)
  const broadcasts = openBroadcasts(context, {
    accept,
    reservations,
    preparation,
    queueAdmin,
    linkTerms: links.terms,
    baseUrl,
  })
  startTlsReports(context, { accept, preparation })
  return { sending: { accept, preparation }, links, broadcasts }
}

interface RouteServices extends AlertServices, BegunParts {
  metricsRoutes: Route[]
  access: ApiAccess
  requestLog: RequestLog | undefined
  feed: EventFeed
  sending: Sending
  domains: SendingDomains
  broadcastRoutes: Route[]
  linkRoutes: Route[]
  /** URL of the API. */
  baseUrl: string
}

/** Returns all routes of the API except those that describe them. */
function routesOf(context: AppContext, services: RouteServices): Route[] {
  const { config, clock, store, newId, security } = context
  const { db, run } = store
  const { access, sending, baseUrl } = services
  const zone = zoneRecords(config, 0)
  return [
    ...healthRoutes({ ...services.readiness, serviceMode: context.serviceMode }),
    ...services.metricsRoutes,
    ...wellKnownRoutes({
      db,
      clock,
      mailHost: config.mailHost,
      secrets: security.secrets,
      findPolicy: async () => policyOf(config, zone, await readSetting(db, MTA_STS_MODE)),
    }),
    ...access.routes,
    ...installationRoutesOf(context, services.queueAdmin, baseUrl),
    ...smtpTestRoutesOf(context, access),
    ...usageRoutes({
      accounts: access.accounts,
      db,
      clock,
      requestsPerSecond: config.rateLimit.requestsPerSecond,
    }),
    ...logRoutesOf(context, services.requestLog),
    ...operatorRoutesOf(context, services),
    ...services.domains.routes,
    ...eventRoutesOf(context, { feed: services.feed, isValid: access.isValid }),
    ...templateRoutes({ db, run, clock, newId }),
    ...services.broadcastRoutes,
    ...audienceRoutesOf(context),
    ...fileRoutesOf(context, sending, baseUrl),
    ...sendingRoutes(context, sending.accept, services),
    ...services.linkRoutes,
    ...readingRoutes(context, baseUrl),
  ].map(namingUnapplied)
}

/** Returns the routes that describe the others. */
function openapiRoutesOf({ regions, plans }: Config, routes: Route[], cookie: SessionCookie): Route[] {
  return openapiRoutes({ routes, cookie, regions: Object.keys(regions), plans: Object.keys(plans) })
}

/** Creates the first user and API key in an empty database. */
function prepareFirstRunOf({ config, clock, store, newId, security }: AppContext) {
  return prepareFirstRun({
    db: store.db,
    run: store.run,
    clock,
    newId,
    passwords: security.passwords,
    email: config.admin.email,
    password: config.admin.password,
    apiKeyPrefix: config.apiKeys.prefix,
    credentialsFile: config.admin.credentialsFile,
  })
}

/** Starts the control socket, which the command line uses while the service runs. */
function startControl(
  context: AppContext,
  { accept, preparation }: Sending,
  { domains, registration }: SendingDomains,
): Promise<ControlServer> {
  const { config, clock, log, store, newId, security, workers } = context
  const parts = {
    db: store.db,
    run: store.run,
    clock,
    newId,
    passwords: security.passwords,
    apiKeyPrefix: config.apiKeys.prefix,
    accessTokenPrefix: config.accessTokens.prefix,
    mailHost: config.mailHost,
    pathsTo: workers.pathsTo,
    examine: () => runDoctor(config, store.db, clock, true),
    sender: { domains, registration, accept, preparation },
  }
  return startControlServer({ folder: config.dataDir, context: parts, log })
}

function openReservations({ log, store }: AppContext): BlobReservations {
  return createBlobReservations({
    blobs: store.blobs,
    db: store.db,
    onLeftBehind: error =>
      log.warn(
        { event: 'file_not_removed', err: error },
        'A file that is no longer needed could not be removed',
      ),
  })
}

/** Creates the acceptance of emails that all kinds of submission share. */
function openAccept(
  { config, simulatorDomains, clock, store, plans, serviceMode, newId }: AppContext,
  outbound: Outbound,
  linkTerms: LinkTermsIds,
  reservations: BlobReservations,
): Accept {
  const regions = Object.keys(config.regions)
  return createAccept({
    run: store.run,
    find: store.find,
    reservations,
    openFetching: createFetchAttachments({
      outbound: config.fetch.attachments ? outbound : null,
      clock,
      blobs: store.blobs,
    }),
    clock,
    newId,
    simulatorDomains,
    feedbackRegions: regions.filter(region => config.regions[region]?.feedback),
    quotaOf: plans.quotaOf,
    isSuspended: plans.isSuspended,
    serviceMode,
    linkTerms: async () => linkTerms,
    expireAfterMs: config.delivery.expireAfterHours * HOUR_MS,
  })
}

/** Routes of sent emails and suppressions. */
function sendingRoutes(
  { clock, store, plans, workers: { reader, pathsTo }, security: { secrets } }: AppContext,
  accept: Accept,
  { queueAdmin, readiness: { isDiskFull } }: RouteServices,
): Route[] {
  const { db, find, run } = store
  const { horizonOf, quotaOf } = plans
  const shown = { horizonOf, store, pathsTo, isDiskFull, now: clock.now }
  return [
    ...emailListRoutes({ reader, horizonOf }),
    ...emailMetricsRoutes({ reader, horizonOf, store, clock }),
    ...broadcastRecipientRoutes({ db, reader, quotaOf, horizonOf }),
    ...broadcastProviderRoutes({ db, reader, horizonOf }),
    ...emailRoutes({ ...shown, accept, secrets }),
    ...batchRoutes({ accept }),
    ...scheduledEmailRoutes(shown),
    ...waitingEmailRoutes({ ...shown, queueAdmin }),
    ...suppressionFileRoutes({ db, run, clock }),
    ...suppressionRoutes({ db, find, run, clock }),
  ]
}

/**
 * Routes of raw emails, shared links and emails in the browser.
 * @param baseUrl URL of the API
 */
function readingRoutes(
  { config, clock, store, plans, newId, workers, security: { secrets } }: AppContext,
  baseUrl: string,
): Route[] {
  const { horizonOf } = plans
  const shareBaseUrl = config.tracking.baseUrl || baseUrl
  return [
    ...rawEmailRoutes({ horizonOf, store, reader: workers.reader }),
    ...shareRoutes({ horizonOf, store, clock, newId, baseUrl: shareBaseUrl }),
    ...viewRoutes({ secrets, store, horizonOf }),
  ]
}

/** @returns undefined when the rate is not limited */
function rateLimitOf({ rateLimit: { requestsPerSecond } }: Config, clock: Clock): RateLimit | undefined {
  return requestsPerSecond === 0 ? undefined : createRateLimit({ clock, requestsPerSecond })
}

/** @returns the URL of the API */
function baseUrlOf({ http }: Config, { address, port }: { address: string; port: number }) {
  return http.baseUrl || `http://${hostPort(address, port)}`
}
