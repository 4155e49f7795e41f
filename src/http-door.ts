/** The HTTP door with all that stands behind it: the part of the composition root that answers requests. */
import { type Accept, createAccept } from './accept/accept.ts'
import { createFetchAttachments } from './accept/fetch-attachments.ts'
import { createPreparation } from './accept/prepare.ts'
import { createAccounts } from './accounts/accounts.ts'
import { createApiKeys } from './accounts/api-keys.ts'
import { prepareFirstRun } from './accounts/first-run.ts'
import { createRateLimit, type RateLimit } from './accounts/rate-limit.ts'
import { createSessions } from './accounts/sessions.ts'
import { createSignInReport } from './accounts/sign-in-report.ts'
import { prepareBroadcasts } from './broadcasting.ts'
import type { Config } from './config/config.ts'
import { connectionShares } from './connection-shares.ts'
import { type ControlServer, startControlServer } from './control/server.ts'
import { openPages } from './dashboard/pages.ts'
import { previewOf } from './dashboard/preview.ts'
import { sourceSettings } from './delivery-settings.ts'
import { listZone } from './domains/zone-list.ts'
import { createEventFeed } from './events/feed.ts'
import { examineInstallation, sharedExamination } from './examination.ts'
import { fileRoutes } from './file-routes.ts'
import { createHttpApp } from './http/app.ts'
import { createReadBody } from './http/body.ts'
import { createClientAddress } from './http/client-address.ts'
import { sessionCookie } from './http/cookie.ts'
import { createFindCredential } from './http/credentials.ts'
import { createLargeBodies } from './http/large-bodies.ts'
import { createSpendRequest } from './http/rate-limit.ts'
import type { Route } from './http/route.ts'
import { accountRoutes } from './http/routes/accounts.ts'
import { alertRoutes } from './http/routes/alerts.ts'
import { apiKeyRoutes } from './http/routes/api-keys.ts'
import { authRoutes } from './http/routes/auth.ts'
import { batchRoutes } from './http/routes/batch.ts'
import { broadcastRecipientRoutes } from './http/routes/broadcast-recipients.ts'
import { destinationRoutes } from './http/routes/destinations.ts'
import { doctorRoutes } from './http/routes/doctor.ts'
import { emailListRoutes } from './http/routes/email-list.ts'
import { emailMetricsRoutes } from './http/routes/email-metrics.ts'
import { emailRoutes } from './http/routes/emails.ts'
import { healthRoutes } from './http/routes/health.ts'
import { installationRoutes } from './http/routes/installation.ts'
import { metricsRoutes } from './http/routes/metrics.ts'
import { openapiRoutes } from './http/routes/openapi.ts'
import { queueRoutes } from './http/routes/queue.ts'
import { rawEmailRoutes } from './http/routes/raw-email.ts'
import { scheduledEmailRoutes } from './http/routes/scheduled-emails.ts'
import { sessionRoutes } from './http/routes/sessions.ts'
import { shareRoutes } from './http/routes/shares.ts'
import { sourceRoutes } from './http/routes/sources.ts'
import { suppressionRoutes } from './http/routes/suppressions.ts'
import { templateRoutes } from './http/routes/templates.ts'
import { CHALLENGE_PATH, wellKnownRoutes } from './http/routes/well-known.ts'
import { zoneRecordRoutes } from './http/routes/zone-records.ts'
import { headersOfAll } from './http/security-headers.ts'
import { endingFirst, type HttpServer, startHttpServer } from './http/server.ts'
import { describeInstallation } from './installation.ts'
import type { Clock } from './lib/clock.ts'
import { createIdSource, type IdSource } from './lib/ids.ts'
import { openLinkCertificates } from './link-certificates.ts'
import { prepareLinks } from './links.ts'
import type { Outbound } from './outbound/outbound.ts'
import type { Parts } from './parts.ts'
import { peopleRoutes } from './people.ts'
import { policyOf, zoneRecords } from './provider-dns.ts'
import { createHands, type Hands } from './queue/hands.ts'
import { domainParts } from './sending-domains.ts'
import { KEYS_DELETED } from './store/accounts/api-keys.ts'
import { createBlobClaims } from './store/blobs/claims.ts'
import { MISSED } from './store/command.ts'
import type { LinkTermsIds } from './store/mail/link-terms.ts'
import { publishedPolicy } from './store/settings.ts'
import { createSuppressions } from './suppressions/suppressions.ts'
import { tellingRoutes } from './telling.ts'
import { createReadyTemplates } from './templates/ready.ts'
import { createTemplates } from './templates/templates.ts'
import { startTlsReports } from './tls-reports.ts'
import { startUserOutbound } from './user-outbound.ts'

const HOUR_MS = 3_600_000
/** Where `scripts/build-dashboard.js` puts it. */
const DASHBOARD = new URL('../dist/dashboard', import.meta.url).pathname
const HTTP_GRACE_MS = 5_000

export type HttpDoor = Awaited<ReturnType<typeof startHttpDoor>>

/** @param started gets what is to be closed, in the order of the starts */
export async function startHttpDoor(
  parts: Parts,
  notReady: () => Promise<string[]>,
  started: (() => unknown)[],
) {
  const { config, clock, log, store, plans, passwords } = parts
  const { db, run } = store
  const common = { db, run, clock, newId: createIdSource() }
  const { sessions, apiKeys, accounts } = accountParts(parts, common.newId)
  const rateLimit = rateLimitOf(config, clock)
  const feed = createEventFeed({ db, find: store.find, clock, isShared: store.isShared })
  const hands = createHands(common)
  await hands.settle()
  started.push(apiKeys.close)
  store.on(KEYS_DELETED, apiKeys.forget)
  store.on(MISSED, apiKeys.forget)
  const { mailHost } = config
  const fixed = zoneRecords(config, clock.now())
  const largeBodies = createLargeBodies(parts.readers)
  const preparation = createPreparation({
    findTemplate: createReadyTemplates(store.find),
    blobs: store.blobs,
  })
  const cookie = sessionCookie(config.http.baseUrl)
  const firstRun = await prepareFirstRun({
    ...common,
    passwords,
    email: config.admin.email,
    password: config.admin.password,
    apiKeyPrefix: config.apiKeys.prefix,
    credentialsFile: config.admin.credentialsFile,
  })
  const outbound = startUserOutbound(parts, started)
  const links = prepareLinks(parts, started)
  const accept = openDoor(parts, common.newId, outbound, links.terms)
  const baseUrl = () => baseUrlOf(config, http.address())
  const ways = { accept, preparation, hands, linkTerms: links.terms, baseUrl }
  const broadcasts = prepareBroadcasts(parts, { ...common, ...ways }, started)
  const stopReports = startTlsReports({ ...parts, accept, preparation })
  if (stopReports) started.push(stopReports)
  const routes = [
    ...healthRoutes({ notReady }),
    ...metricsRoutes({ metrics: parts.metrics, token: config.metrics.token }),
    ...wellKnownRoutes({ db, clock, mailHost, secrets: parts.secrets, policy: policyOf(config, fixed) }),
    ...authRoutes({ sessions, db, cookie }),
    ...sessionRoutes({ sessions }),
    ...installationRoutes({
      describe: () => describeInstallation(config, baseUrlOf(config, http.address())),
    }),
    ...accountRoutes({ accounts, plans }),
    ...operatorRoutes(parts, hands),
    ...apiKeyRoutes({ apiKeys }),
    ...domainParts(parts, common.newId, started),
    ...tellingRoutes(parts, common.newId, { feed, sessions }),
    ...templateRoutes({ templates: createTemplates(common) }),
    ...broadcasts.routes,
    ...peopleRoutes(parts, common.newId),
    ...fileRoutes(parts, { accept, preparation, baseUrl: () => baseUrlOf(config, http.address()) }),
    ...sendingRoutes(parts, accept),
    ...links.routes,
    ...readingRoutes(parts, common.newId, () => baseUrlOf(config, http.address())),
  ]
  started.push((await startControl(parts)).close)
  const http = await openListeners(parts, started, {
    isLinkHost: links.isHost,
    routes: [...routes, ...openapiRoutes({ routes, cookie })],
    pages: { ...openPages(DASHBOARD), preview: previewOf, enter: largeBodies.enter },
    findCredential: createFindCredential({ sessions, apiKeys, cookie }),
    clientAddressOf: createClientAddress(config.http.trustedProxies),
    readBody: createReadBody(largeBodies, preparation, clock),
    headers: headersOfAll(config.http.baseUrl),
    spendRequest: rateLimit && createSpendRequest(rateLimit),
    clock,
    log,
  })
  await links.open(baseUrlOf(config, http.address()))
  await broadcasts.start()
  return { http: endingFirst(feed, http), firstRun, accept, preparation, apiKeys, rateLimit }
}

/** The machine, its queue and its names. */
function operatorRoutes({ config, clock, store, reading, pathsTo }: Parts, hands: Hands): Route[] {
  const { db, run } = store
  const { reader } = reading
  const listZonePage = async (page: { limit: number; offset: number }) => {
    const zone = zoneRecords(config, clock.now(), await publishedPolicy(db))
    return listZone(db, zone, config.mailHost, page)
  }
  return [
    ...alertRoutes({ db }),
    ...doctorRoutes({ examine: sharedExamination(() => examineInstallation(config, db, clock), clock) }),
    ...queueRoutes({ hands, db, clock, reader, pathsTo }),
    ...destinationRoutes({ reader, run, db, clock, pathsTo }),
    ...sourceRoutes({ ...sourceSettings(config), db, clock }),
    ...zoneRecordRoutes({ listZone: listZonePage }),
  ]
}

/** What is done on large bodies, apart from the thread that takes requests. */
/** Plain, over TLS, and for proofs alone. @returns the first of them */
async function openListeners(
  parts: Parts,
  started: (() => unknown)[],
  options: Parameters<typeof createHttpApp>[0],
) {
  const { certificates, clock } = parts
  const { http, acme } = parts.config
  const common = {
    clock,
    mostConnections: connectionShares(parts.config).http,
    mostPerClient: http.connectionsPerClient,
    trustedProxies: http.trustedProxies,
    headers: options.headers,
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

/** What the command line asks of a running service. */
function startControl({ config, clock, log, store, passwords, pathsTo }: Parts): Promise<ControlServer> {
  const { db, run } = store
  const apiKeyPrefix = config.apiKeys.prefix
  const parts = { db, run, clock, newId: createIdSource(), passwords, apiKeyPrefix, pathsTo }
  return startControlServer({ folder: config.dataDir, parts, log })
}

/** What every submission goes through. */
function openDoor(
  { config, simulatorDomains, clock, log, store, plans }: Parts,
  newId: IdSource,
  outbound: Outbound,
  linkTerms: () => Promise<LinkTermsIds>,
): Accept {
  const regions = Object.keys(config.regions)
  return createAccept({
    run: store.run,
    find: store.find,
    claims: createBlobClaims({
      blobs: store.blobs,
      db: store.db,
      onLeftBehind: error => log.warn({ err: error }, 'a file that is not needed could not be removed'),
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

/** Emails: sent, listed, looked at, moved and canceled; and the addresses that get none. */
function sendingRoutes({ clock, store, plans, reading, secrets }: Parts, accept: Accept): Route[] {
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

/** What more there is to read of emails. @param baseUrl to be called once the door is open */
function readingRoutes(
  { config, clock, store, plans, reading }: Parts,
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

/** Undefined where the rate is not limited. */
function rateLimitOf({ rateLimit: { requestsPerSecond } }: Config, clock: Clock): RateLimit | undefined {
  return requestsPerSecond === 0 ? undefined : createRateLimit({ clock, requestsPerSecond })
}

/** Who may do what. */
function accountParts(
  { config, clock, log, store, plans, passwords, secrets, metrics }: Parts,
  newId: IdSource,
) {
  const { db, find, run } = store
  return {
    sessions: createSessions({
      ...{ db, run, clock, newId, passwords, secrets },
      report: createSignInReport({ metrics, log, clock }, 'http'),
    }),
    apiKeys: createApiKeys({ db, find, run, clock, newId, log, prefix: config.apiKeys.prefix }),
    accounts: createAccounts({ db, find, run, clock, newId, passwords, plans }),
  }
}

/** Where clients reach the API. */
export function baseUrlOf(
  { http }: Config,
  { address, family, port }: { address: string; family: string; port: number },
) {
  return http.baseUrl || `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
