/**
 * The HTTP service: builds the routes of the API, starts the listeners, and starts what the routes need. Part
 * of the composition root.
 */

import type { Config } from '../config/config.ts'
import { accessTokenRoutes } from '../interfaces/api/access-tokens/routes.ts'
import { accountRoutes } from '../interfaces/api/accounts/routes.ts'
import { alertRoutes } from '../interfaces/api/alerts/routes.ts'
import { apiKeyRoutes } from '../interfaces/api/api-keys/routes.ts'
import { type SessionCookie, sessionCookie } from '../interfaces/api/auth/cookie.ts'
import { createFindCredential, createIsValid } from '../interfaces/api/auth/credentials.ts'
import { createReadBody } from '../interfaces/api/body/body.ts'
import { createLargeBodies } from '../interfaces/api/body/large-bodies.ts'
import { broadcastRecipientRoutes } from '../interfaces/api/broadcasts/recipient-routes.ts'
import { doctorRoutes } from '../interfaces/api/doctor/routes.ts'
import { zoneRecordRoutes } from '../interfaces/api/domains/zone-routes.ts'
import { batchRoutes } from '../interfaces/api/emails/batch-routes.ts'
import { emailListRoutes } from '../interfaces/api/emails/list-routes.ts'
import { emailMetricsRoutes } from '../interfaces/api/emails/metric-routes.ts'
import { rawEmailRoutes } from '../interfaces/api/emails/raw-routes.ts'
import { scheduledEmailRoutes } from '../interfaces/api/emails/scheduled-routes.ts'
import { emailRoutes } from '../interfaces/api/emails/send-routes.ts'
import { shareRoutes } from '../interfaces/api/emails/share-routes.ts'
import { healthRoutes } from '../interfaces/api/health/routes.ts'
import { openapiRoutes } from '../interfaces/api/openapi/routes.ts'
import { destinationRoutes } from '../interfaces/api/queue/destination-routes.ts'
import { queueRoutes } from '../interfaces/api/queue/routes.ts'
import { sourceRoutes } from '../interfaces/api/queue/source-routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { namingUnapplied } from '../interfaces/api/route/unapplied-fields.ts'
import { createHttpApp } from '../interfaces/api/server/app.ts'
import { type ClientAddressOf, createClientAddress } from '../interfaces/api/server/client-address.ts'
import { createSpendRequest } from '../interfaces/api/server/rate-limit.ts'
import { headersOfAll } from '../interfaces/api/server/security-headers.ts'
import { endingFirst, type HttpServer, startHttpServer } from '../interfaces/api/server/server.ts'
import { authRoutes } from '../interfaces/api/sessions/routes.ts'
import { sessionRoutes } from '../interfaces/api/sessions/session-routes.ts'
import { suppressionRoutes } from '../interfaces/api/suppressions/routes.ts'
import { templateRoutes } from '../interfaces/api/templates/routes.ts'
import { usageRoutes } from '../interfaces/api/usage/routes.ts'
import { CHALLENGE_PATH, wellKnownRoutes } from '../interfaces/api/well-known/routes.ts'
import { type ControlServer, startControlServer } from '../interfaces/cli/control/server.ts'
import { openPages } from '../interfaces/dashboard/pages.ts'
import { previewOf } from '../interfaces/dashboard/preview.ts'
import type { Clock } from '../lib/clock.ts'
import { createIdSource, type IdSource } from '../lib/ids.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import { type Accept, createAccept } from '../pipeline/accept/accept.ts'
import { createFetchAttachments } from '../pipeline/accept/fetch-attachments.ts'
import { createPreparation } from '../pipeline/accept/prepare.ts'
import { createQueueAdmin, type QueueAdmin } from '../pipeline/queue/queue-admin.ts'
import type { Outbound } from '../protocols/http-client/outbound.ts'
import { createAccessTokens } from '../resources/accounts/access-tokens.ts'
import { createAccounts } from '../resources/accounts/accounts.ts'
import { KEYS_DELETED } from '../resources/accounts/api-key-rows.ts'
import { createApiKeys } from '../resources/accounts/api-keys.ts'
import { prepareFirstRun } from '../resources/accounts/first-run.ts'
import { createRateLimit, type RateLimit } from '../resources/accounts/rate-limit.ts'
import { createSessions } from '../resources/accounts/sessions.ts'
import { createSignInReport } from '../resources/accounts/sign-in-report.ts'
import { listZone } from '../resources/domains/zone-list.ts'
import type { LinkTermsIds } from '../resources/emails/link-terms.ts'
import { createEventFeed } from '../resources/events/feed.ts'
import { createSuppressions } from '../resources/suppressions/suppressions.ts'
import { createReadyTemplates } from '../resources/templates/ready.ts'
import { createTemplates } from '../resources/templates/templates.ts'
import { createBlobReservations } from '../store/blobs/reservations.ts'
import { MISSED } from '../store/model/command.ts'
import { findZoneSerial, MTA_STS_MODE, publishedPolicy, readSetting } from '../store/reading/settings.ts'
import { startBroadcasts } from './broadcasts.ts'
import type { AppContext } from './context.ts'
import { sourceSettings } from './delivery-settings.ts'
import { policyOf, zoneRecords } from './dns.ts'
import { runDoctor, sharedDoctorRun } from './doctor.ts'
import { fdBudget } from './fd-budget.ts'
import { openLinkCertificates } from './link-certificates.ts'
import { countRequests, metricsRoutesOf } from './metrics.ts'
import { logRoutesOf, startRequestLog } from './request-log.ts'
import { audienceRoutesOf, eventRoutesOf, fileRoutesOf, installationRoutesOf } from './resource-routes.ts'
import { domainParts } from './sending-domains.ts'
import { startTlsReports } from './tls-reports.ts'
import { prepareTracking } from './tracking.ts'
import { startUserOutbound } from './user-outbound.ts'

const HOUR_MS = 3_600_000
/** Folder that `scripts/build-dashboard.js` writes. */
const DASHBOARD = new URL('../../dist/dashboard', import.meta.url).pathname
const HTTP_GRACE_MS = 5_000

export type HttpService = Awaited<ReturnType<typeof startHttpService>>

/** @param started receives functions that close the parts, in the order of their starts */
export async function startHttpService(
  parts: AppContext,
  notReady: () => Promise<string[]>,
  started: (() => unknown)[],
) {
  const { config, clock, log, store } = parts
  const { db, run } = store
  const common = { db, run, clock, newId: createIdSource() }
  const cookie = sessionCookie(config.http.baseUrl)
  const clientAddressOf = createClientAddress(config.http.trustedProxies)
  const access = accessParts(parts, common.newId, started, { cookie, clientAddressOf })
  const rateLimit = rateLimitOf(config, clock)
  const requestLog = startRequestLog(parts, started)
  const feed = createEventFeed({ db, find: store.find, clock, isShared: store.isShared })
  const queueAdmin = createQueueAdmin(common)
  await queueAdmin.recover()
  const { mailHost } = config
  const fixed = zoneRecords(config, 0)
  const findPolicy = async () => policyOf(config, fixed, await readSetting(db, MTA_STS_MODE))
  const largeBodies = createLargeBodies(parts.readers)
  const preparation = createPreparation({
    findTemplate: createReadyTemplates(store.find),
    blobs: store.blobs,
  })
  const firstRun = await prepareFirstRunOf(parts, common.newId)
  const outbound = startUserOutbound(parts, started)
  const links = prepareTracking(parts, started)
  const accept = openAccept(parts, common.newId, outbound, links.terms)
  const baseUrl = () => baseUrlOf(config, http.address())
  const sending = { accept, preparation, queueAdmin, linkTerms: links.terms, baseUrl }
  const broadcasts = startBroadcasts(parts, { ...common, ...sending }, started)
  const stopReports = startTlsReports({ ...parts, accept, preparation })
  if (stopReports) started.push(stopReports)
  const routes = [
    ...healthRoutes({ notReady }),
    ...metricsRoutesOf(parts),
    ...wellKnownRoutes({ db, clock, mailHost, secrets: parts.secrets, findPolicy }),
    ...access.routes,
    ...installationRoutesOf(config, baseUrl),
    ...usageRoutes({
      accounts: access.accounts,
      db,
      clock,
      requestsPerSecond: config.rateLimit.requestsPerSecond,
    }),
    ...logRoutesOf(parts, requestLog),
    ...operatorRoutes(parts, queueAdmin),
    ...domainParts(parts, common.newId, started),
    ...eventRoutesOf(parts, common.newId, { feed, isValid: access.isValid }),
    ...templateRoutes({ templates: createTemplates(common) }),
    ...broadcasts.routes,
    ...audienceRoutesOf(parts, common.newId),
    ...fileRoutesOf(parts, { accept, preparation, baseUrl }),
    ...sendingRoutes(parts, accept),
    ...links.routes,
    ...readingRoutes(parts, common.newId, baseUrl),
  ].map(namingUnapplied)
  started.push((await startControl(parts)).close)
  const http = await openListeners(parts, started, {
    isLinkHost: links.isHost,
    routes: [...routes, ...openapiRoutes({ routes, cookie, ...installedOf(config) })],
    pages: { ...openPages(DASHBOARD), preview: previewOf, enter: largeBodies.enter },
    findCredential: access.find,
    clientAddressOf,
    readBody: createReadBody(largeBodies, preparation, clock),
    headers: headersOfAll(config.http.baseUrl),
    spendRequest: rateLimit && createSpendRequest(rateLimit),
    requestLog,
    countRequest: countRequests(parts.metrics),
    clock,
    log,
  })
  await links.open(baseUrlOf(config, http.address()))
  await broadcasts.start()
  return { http: endingFirst(feed, http), firstRun, accept, preparation, ...access.programs, rateLimit }
}

/** Creates the first user and API key in an empty database. */
function prepareFirstRunOf({ config, clock, store, passwords }: AppContext, newId: IdSource) {
  return prepareFirstRun({
    ...{ db: store.db, run: store.run, clock, newId, passwords },
    email: config.admin.email,
    password: config.admin.password,
    apiKeyPrefix: config.apiKeys.prefix,
    credentialsFile: config.admin.credentialsFile,
  })
}

/** Names that the configuration defines. */
function installedOf({ regions, plans }: Config) {
  return { regions: Object.keys(regions), plans: Object.keys(plans) }
}

/** Routes of the operator: alerts, doctor, queue, destinations, sources and the provider zone. */
function operatorRoutes(
  { config, clock, store, reading, pathsTo }: AppContext,
  queueAdmin: QueueAdmin,
): Route[] {
  const { db, run } = store
  const { reader } = reading
  const listZonePage = async (page: { limit: number; offset: number }) => {
    const zone = zoneRecords(config, (await findZoneSerial(db)) ?? 0, await publishedPolicy(db))
    return listZone(db, zone, config.mailHost, page)
  }
  return [
    ...alertRoutes({ db }),
    ...doctorRoutes({ examine: sharedDoctorRun(() => runDoctor(config, db, clock), clock) }),
    ...queueRoutes({ queueAdmin, db, clock, reader, pathsTo }),
    ...destinationRoutes({ reader, run, db, clock, pathsTo }),
    ...sourceRoutes({ ...sourceSettings(config), db, clock }),
    ...zoneRecordRoutes({ listZone: listZonePage }),
  ]
}

/**
 * Starts the plain listener, the TLS listener, and a listener for ACME challenges alone.
 * @returns the plain listener
 */
async function openListeners(
  parts: AppContext,
  started: (() => unknown)[],
  options: Parameters<typeof createHttpApp>[0],
) {
  const { certificates, clock, log } = parts
  const failed = throttledLog(
    { log, clock },
    'error',
    'http_listener_failed',
    'An HTTP connection could not be accepted',
  )
  const { http, acme } = parts.config
  const common = {
    clock,
    maxConnections: fdBudget(parts.config).http,
    maxPerClient: http.connectionsPerClient,
    trustedProxies: http.trustedProxies,
    headers: options.headers,
    onError: (error: Error) => failed({ err: error }),
  }
  const app = createHttpApp(options)
  const close = (server: HttpServer) => started.push(() => server.close(HTTP_GRACE_MS))
  if (acme.enabled && acme.listen) {
    const routes = options.routes.filter(({ path }) => path === CHALLENGE_PATH)
    const proofs = createHttpApp({ ...options, routes, pages: undefined })
    close(await startHttpServer(proofs, { ...acme.listen, ...common }))
  }
  const secure =
    http.tlsListen &&
    (await startHttpServer(
      app,
      { ...http.tlsListen, ...common },
      { ...certificates, contextFor: await openLinkCertificates(parts) },
    ))
  if (secure) close(secure)
  const place = http.listen ?? { host: '127.0.0.1', port: 0 }
  const plain = await startHttpServer(app, { ...place, ...common })
  return { ...plain, secureAddress: secure ? secure.address() : null }
}

/** Starts the control socket, which the command line uses while the service runs. */
function startControl({ config, clock, log, store, passwords, pathsTo }: AppContext): Promise<ControlServer> {
  const { db, run } = store
  const prefixes = { apiKeyPrefix: config.apiKeys.prefix, accessTokenPrefix: config.accessTokens.prefix }
  const parts = { db, run, clock, newId: createIdSource(), passwords, ...prefixes, pathsTo }
  return startControlServer({ folder: config.dataDir, parts, log })
}

/** Creates the acceptance of emails that all kinds of submission share. */
function openAccept(
  { config, simulatorDomains, clock, log, store, plans }: AppContext,
  newId: IdSource,
  outbound: Outbound,
  linkTerms: () => Promise<LinkTermsIds>,
): Accept {
  const regions = Object.keys(config.regions)
  return createAccept({
    run: store.run,
    find: store.find,
    reservations: createBlobReservations({
      blobs: store.blobs,
      db: store.db,
      onLeftBehind: error =>
        log.warn(
          { event: 'file_not_removed', err: error },
          'A file that is no longer needed could not be removed',
        ),
    }),
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
    linkTerms,
    expireAfterMs: config.delivery.expireAfterHours * HOUR_MS,
  })
}

/** Routes of sent emails and suppressions. */
function sendingRoutes({ clock, store, plans, reading, secrets }: AppContext, accept: Accept): Route[] {
  const { horizonOf } = plans
  return [
    ...emailListRoutes({ reader: reading.reader, horizonOf }),
    ...emailMetricsRoutes({ reader: reading.reader, horizonOf, store, clock }),
    ...broadcastRecipientRoutes({ db: store.db, reader: reading.reader, horizonOf }),
    ...emailRoutes({ accept, horizonOf, store, secrets }),
    ...batchRoutes({ accept }),
    ...scheduledEmailRoutes({ horizonOf, store, now: clock.now }),
    ...suppressionRoutes({ suppressions: createSuppressions({ ...store, clock }) }),
  ]
}

/**
 * Routes of raw emails and shared links.
 * @param baseUrl returns the URL of the API; it is called once the HTTP listener is bound
 */
function readingRoutes(
  { config, clock, store, plans, reading }: AppContext,
  newId: IdSource,
  baseUrl: () => string,
): Route[] {
  const { horizonOf } = plans
  const shareBaseUrl = () => config.tracking.baseUrl || baseUrl()
  return [
    ...rawEmailRoutes({ horizonOf, store, reader: reading.reader }),
    ...shareRoutes({ horizonOf, store, clock, newId, baseUrl: shareBaseUrl }),
  ]
}

/** @returns undefined when the rate is not limited */
function rateLimitOf({ rateLimit: { requestsPerSecond } }: Config, clock: Clock): RateLimit | undefined {
  return requestsPerSecond === 0 ? undefined : createRateLimit({ clock, requestsPerSecond })
}

/**
 * Creates sessions, API keys and access tokens, the check of credentials, and the routes of accounts.
 *
 * @param started receives functions that close the parts
 */
function accessParts(
  { config, clock, log, store, plans, passwords, secrets, metrics }: AppContext,
  newId: IdSource,
  started: (() => unknown)[],
  request: { cookie: SessionCookie; clientAddressOf: ClientAddressOf },
) {
  const { db, find, run } = store
  const common = { db, find, run, clock, newId }
  const report = createSignInReport({ metrics, log, clock }, 'http')
  const sessions = createSessions({ ...common, passwords, secrets, report })
  const accounts = createAccounts({ ...common, passwords, plans })
  const apiKeys = createApiKeys({ ...common, log, prefix: config.apiKeys.prefix })
  const accessTokens = createAccessTokens({ ...common, log, prefix: config.accessTokens.prefix })
  for (const { close, forget } of [apiKeys, accessTokens]) {
    started.push(close)
    store.on(KEYS_DELETED, forget)
    store.on(MISSED, forget)
  }
  const { now } = clock
  return {
    accounts,
    /** Credentials of programs, which SMTP submission accepts, too. */
    programs: { apiKeys, accessTokens },
    find: createFindCredential({ sessions, apiKeys, accessTokens, ...request, now }),
    isValid: createIsValid({ sessions, accessTokens, now }),
    routes: [
      ...authRoutes({ sessions, db, cookie: request.cookie }),
      ...sessionRoutes({ sessions }),
      ...accountRoutes({ accounts, plans }),
      ...apiKeyRoutes({ apiKeys, accessTokens }),
      ...accessTokenRoutes({ accessTokens, now }),
    ],
  }
}

/** @returns the URL of the API */
export function baseUrlOf(
  { http }: Config,
  { address, family, port }: { address: string; family: string; port: number },
) {
  return http.baseUrl || `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
