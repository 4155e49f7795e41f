/** Entry of a delivery thread: builds its worker from what the main thread hands over. */
import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads'
import { createAdjustableClock } from '../lib/adjustable-clock.ts'
import { systemClock } from '../lib/clock.ts'
import { createEventLoopUtilization } from '../lib/event-loop-utilization.ts'
import { collectGarbageWhenIdle } from '../lib/idle-gc.ts'
import { type Id, wireId } from '../lib/ids.ts'
import { createLog } from '../lib/log.ts'
import { createOnDemandWorker } from '../lib/on-demand-worker.ts'
import { createSecretKeys } from '../lib/secret-keys.ts'
import { QUIET_THREAD } from '../lib/thread-memory.ts'
import { serveCalls } from '../lib/worker-rpc.ts'
import { createLocalDelivery } from '../pipeline/delivery/local-delivery.ts'
import { createKeyRing } from '../pipeline/delivery/message/key-ring.ts'
import { createMessageMaker } from '../pipeline/delivery/message/message.ts'
import { createAlerts } from '../pipeline/delivery/outcome/alerts.ts'
import type { AttemptResult } from '../pipeline/delivery/outcome/finish.ts'
import { destinationLimits } from '../pipeline/delivery/providers.ts'
import { UNSTORED } from '../pipeline/delivery/recorder.ts'
import { createRouter, type DeliveryRoute } from '../pipeline/delivery/route.ts'
import { createSessionPool } from '../pipeline/delivery/session-pool.ts'
import { createAdaptiveLimit } from '../pipeline/delivery/shaping/adaptive-limit.ts'
import { createCapRegistry } from '../pipeline/delivery/shaping/caps.ts'
import type { PathKey } from '../pipeline/delivery/shaping/congestion-feedback.ts'
import { createSlots } from '../pipeline/delivery/shaping/slots.ts'
import { createSourceIps } from '../pipeline/delivery/shaping/source-ips.ts'
import { createWarmupBudgets } from '../pipeline/delivery/shaping/warmup-budget.ts'
import { createSmartHostOf } from '../pipeline/delivery/smart-host.ts'
import type {
  DeliveryFunctions,
  DeliveryNotice,
  DeliveryOrder,
  DeliveryThreadData,
} from '../pipeline/delivery/threads.ts'
import { createDane, type Dane } from '../pipeline/delivery/tls-policy/dane.ts'
import { createSecurityOf } from '../pipeline/delivery/tls-policy/domain-security.ts'
import { createHostTlsPolicies } from '../pipeline/delivery/tls-policy/host-tls-policy.ts'
import { createMtaStsCache } from '../pipeline/delivery/tls-policy/mta-sts-cache.ts'
import { createTlsResults } from '../pipeline/delivery/tls-policy/tls-results.ts'
import { createUndeliverable } from '../pipeline/delivery/undeliverable.ts'
import { createDeliveryWorker } from '../pipeline/delivery/worker.ts'
import { listDestinationCaps, SLOWED } from '../pipeline/queue/destination-caps.ts'
import { listPausedDestinations, RESUMED } from '../pipeline/queue/destination-states.ts'
import { trackLeases } from '../pipeline/queue/held-leases.ts'
import { HELD } from '../pipeline/queue/hold.ts'
import { startLeaseKeeper } from '../pipeline/queue/leases.ts'
import { type DueQueueKey, stepDeferredQueueKeys } from '../pipeline/queue/queue-key-rows.ts'
import { waitingAt } from '../pipeline/queue/waiting-mail.ts'
import { simulatedEnding, simulatedSequel } from '../pipeline/simulator/ending.ts'
import { createSigner } from '../protocols/dkim/signer.ts'
import { isLoopback } from '../protocols/dns/address-safety.ts'
import { serverOf } from '../protocols/dns/query.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { nameFaults } from '../protocols/dns/reverse.ts'
import { createValidatingClient } from '../protocols/dns/validating-client.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import { DKIM_KEYS_CHANGED, HOSTING_CHANGED } from '../resources/domains/domain-rows.ts'
import { createHostedDomains } from '../resources/domains/hosted.ts'
import { createBlobReservations } from '../store/blobs/reservations.ts'
import { type ClaimedDelivery, MISSED } from '../store/command.ts'
import { openReader } from '../store/dialect.ts'
import type { MailSelector } from '../store/schema/steering.ts'
import { createWriterClient } from '../store/writer/client.ts'
import type { ServiceCommands } from './commands.ts'

interface ForwardedLane {
  to: number
  queueKey: DueQueueKey
  route: DeliveryRoute
}

/** While many attempts end, each end waits up to this long for company: fewer and larger commits. */
const FINISH_PATIENCE_MS = 20

collectGarbageWhenIdle()

const data = workerData as DeliveryThreadData
const control = parentPort!
const adjustable = data.clockSeat ? createAdjustableClock(data.clockSeat) : undefined
const clock = adjustable ?? systemClock
const log = createLog(data.logLevel).child({ thread: `delivery-${data.index}` })
const secrets = createSecretKeys(data.secret)
const writer = createWriterClient<ServiceCommands>(data.writer, {
  clock,
  lazyMs: { finish: FINISH_PATIENCE_MS },
})
const { db, find, blobs } = openReader(data.location)
const resolver = createResolver({ servers: data.resolvers, clock })
const queueKeys = new BroadcastChannel(data.queueKeysChannel)
const random = Math.random
let stopping = false
const dane = openDane()
const tlsResults = data.tlsReports ? openTlsResults() : null
const outbound = createOutbound({
  resolver,
  clock,
  allowLoopback: data.fetchLoopback,
  ...(data.authorities && { authorities: data.authorities }),
})

const limitsOf = destinationLimits(data.providers)
const caps = createCapRegistry(() => listDestinationCaps(db))
await caps.read()
const smartHostOf = createSmartHostOf(data.smartHosts)
const alerts = createAlerts(writer.run, ({ kind, provider, sourceIp, mxHost, reply }) =>
  log.warn(
    { kind, provider, sourceIp: sourceIp || null, mxHost, reply },
    'a mail server holds something against us',
  ),
)

const mostUnderWay = Math.ceil(data.connections / data.threadCount)
const signing = createOnDemandWorker({
  name: 'signing',
  entry: new URL('./signing.ts', import.meta.url),
  memory: QUIET_THREAD,
  log,
})
const leases = data.leases.isShared ? trackLeases(writer.run) : undefined
const keyRing = createKeyRing({ db, secrets, clock })
const hosted = createHostedDomains({ db, clock })
const router = createRouter({
  resolver,
  clock,
  random,
  simulatorDomains: data.simulatorDomains,
  ownNames: data.ownNames,
  smartHostOf,
  securityOf: createSecurityOf({ sts: data.mtaSts ? stsBook() : null, dane }),
  hostedOf: hosted.find,
})
const worker = createDeliveryWorker({
  clock,
  resolver,
  random,
  run: leases?.run ?? writer.run,
  waitingIn: (queueKey, after, limit) => waitingAt({ db }, { kind: 'queueKey', queueKey }, after, limit),
  deferredQueueKeysOf: (destination, domain) => stepDeferredQueueKeys(db, destination, domain),
  owner: data.owner,
  leaseMs: data.leases.leaseMs,
  index: data.index,
  threadCount: data.threadCount,
  localName: data.localName,
  port: data.port,
  allowPrivateAddresses: data.allowPrivateAddresses,
  tlsPolicies: createHostTlsPolicies({ clock, authorities: data.authorities, dane }),
  tlsResults,
  sourceIps: createSourceIps(data.sourceIps, clock),
  pool: createSessionPool(clock, {
    messagesPerConnection: host => limitsOf(host).messagesPerConnection,
    mostIdle: Math.ceil(data.idleConnections / data.threadCount),
  }),
  slots: createSlots({
    adaptiveLimit: createAdaptiveLimit({
      clock,
      busyShare: createEventLoopUtilization(),
      most: mostUnderWay,
    }),
    most: mostUnderWay,
    mostOfAccount: Math.ceil((data.accountConnections ?? Number.POSITIVE_INFINITY) / data.threadCount),
  }),
  warmupBudgets: createWarmupBudgets({
    clock,
    run: writer.run,
    plan: data.warmup,
    onSpent: ({ until, ...facts }) =>
      log.info(
        { ...facts, until: new Date(until).toISOString() },
        'an address that is being warmed up has sent what it may today',
      ),
    onError: error => log.error({ err: error }, 'what an address may send today could not be asked'),
  }),
  limitsOf,
  capOf: caps.capOf,
  smartHostOf,
  router,
  maker: createMessageMaker({ db, find, blobs, secrets, keyRing, sign: createSigner(signing) }),
  simulate: simulatedEnding,
  deliverLocally: createLocalDelivery({
    run: writer.run,
    blobs,
    reservations: createBlobReservations({
      blobs,
      db,
      onLeftBehind: error =>
        log.warn({ err: error }, 'a file of a message that was handed over was left behind'),
    }),
    localName: data.localName,
  }),
  undeliverable: createUndeliverable({ find, clock }),
  forward: (to, queueKey, route) => queueKeys.postMessage({ to, queueKey, route } satisfies ForwardedLane),
  async onStored(delivery, result) {
    logResult(delivery, result)
    if (result.alert) await alerts.raise(delivery, result, clock.now())
    if (result.simulated) await simulatedSequel(writer.run, delivery, result, clock.now())
  },
  onBreakerOpen: (name, { until, reason }) =>
    log.warn(
      { ...pathNames(name), until: new Date(until).toISOString(), reason },
      'a destination is left alone for a while',
    ),
  onResumed: destination =>
    log.info({ destination }, 'a destination is tried again by order of the operator'),
  onRecovery: name => log.info(pathNames(name), 'a destination answers again'),
  onError: (error, delivery) =>
    log.error({ err: error, ...(delivery && names(delivery)) }, 'a delivery step failed'),
})

const keeper =
  leases &&
  startLeaseKeeper({
    run: writer.run,
    clock,
    held: leases.all,
    leaseMs: data.leases.leaseMs,
    onError: error => log.warn({ err: error }, 'leases could not be renewed'),
  })

const functions: DeliveryFunctions = { pathsTo: async destinations => worker.pathsTo(destinations) }
serveCalls(data.calls, functions)
writer.on('due', due => worker.addDue(due as DueQueueKey[]))
writer.on(HELD, selectors => {
  for (const selector of selectors) worker.hold(selector as MailSelector)
})
writer.on(RESUMED, destinations => {
  for (const destination of destinations) worker.probeNow(destination as string)
})
writer.on(SLOWED, () => readCaps())
writer.on(DKIM_KEYS_CHANGED, domainIds => {
  for (const domainId of domainIds) keyRing.forget(domainId as Id)
})
writer.on(HOSTING_CHANGED, names => {
  hosted.forget(names as string[])
  router.forget(names as string[])
})
writer.on(MISSED, () => {
  readCaps()
  keyRing.forget()
  hosted.forget()
  router.forget()
})
queueKeys.onmessage = ({ data: message }) => {
  const { to, queueKey, route } = message as ForwardedLane
  if (to === data.index) worker.addForwarded(queueKey, route)
}
control.on('message', (message: DeliveryOrder) => {
  if (message.order === 'queueKeys') return worker.addDue(message.queueKeys)
  stop(message.graceMs).catch(error => log.error({ err: error }, 'a delivery thread did not stop cleanly'))
})
for (const {
  site: destination,
  source,
  pausedUntil: until,
  pauseMs: ms,
  reason,
} of await listPausedDestinations(db, clock.now()))
  worker.restoreBreaker({ destination, source }, { until, ms, reason })
control.postMessage({ notice: 'ready' } satisfies DeliveryNotice)
if (data.index === 0)
  checkNames().catch(error => log.error({ err: error }, 'the names of our addresses cannot be checked'))

function openTlsResults() {
  const onError = (error: unknown) => log.error({ err: error }, 'TLS results could not be stored')
  return createTlsResults({ resolver, run: writer.run, clock, onError })
}

/** Receivers look at them; one thread speaks for all. */
async function checkNames() {
  for (const { address, name } of data.sourceIps)
    for (const fault of await nameFaults(resolver, address, name ?? data.localName))
      if (!stopping) log.warn({ sourceIp: address }, fault)
}

/** One thread speaks for all. */
function openDane(): Dane | null {
  const { validatingResolver, trustAd, signedName, port, index } = data
  if (validatingResolver === null) return null
  if (!trustAd && !isLoopback(serverOf(validatingResolver).host)) {
    if (index === 0)
      log.error(
        { validatingResolver },
        'DANE is off: the validating resolver is not on this host, and dns.trust_ad is not set',
      )
    return null
  }
  return createDane({
    client: createValidatingClient({ server: validatingResolver, clock }),
    clock,
    port,
    signedName: signedName.replace(/\.$/, ''),
    onChange(isOn, reason) {
      if (index > 0) return
      if (isOn) log.info({ validatingResolver }, 'DANE is on')
      else log.error({ validatingResolver, signedName, reason }, 'DANE is off')
    },
  })
}

function stsBook() {
  return createMtaStsCache({
    resolver,
    outbound,
    find,
    run: writer.run,
    clock,
    port: data.policyPort,
    onFault(domain, { type, fault }) {
      log.info({ domain, type, fault }, 'an MTA-STS policy cannot be had')
      tlsResults?.countFault(domain, 'sts', type, fault)
    },
    onError: error => log.error({ err: error }, 'an MTA-STS policy cannot be kept'),
  })
}

function readCaps() {
  caps
    .read()
    .then(destinations => destinations.forEach(worker.updateRate))
    .catch(error => log.error({ err: error }, 'how much destinations get could not be looked up'))
}

async function stop(graceMs: number) {
  stopping = true
  const unstored = await worker.stop(graceMs)
  if (unstored > 0) {
    log.error({ unstored }, 'how attempts ended could not be stored: they are unknown at the next start')
    process.exitCode = UNSTORED
  }
  await tlsResults?.close().catch(error => log.error({ err: error }, 'TLS results could not be stored'))
  dane?.close()
  data.calls.close()
  await keeper?.stop()
  await signing.close()
  outbound.close()
  resolver.close()
  queueKeys.close()
  writer.close()
  await db.destroy()
  adjustable?.close()
  control.close()
}

function logResult(delivery: ClaimedDelivery, { kind, text, hostAttempts }: AttemptResult) {
  const level = kind === 'delivered' ? 'debug' : 'info'
  if (!log.isLevelEnabled(level)) return
  const mxHost = hostAttempts.at(-1)?.host ?? null
  log[level]({ ...names(delivery), outcome: kind, reply: text, mxHost }, 'delivery')
}

function names({ emailId, address, attempt }: ClaimedDelivery) {
  return { email: wireId('eml', emailId), recipient: address, attempt }
}

function pathNames({ destination, source }: PathKey) {
  return source === '' ? { destination } : { destination, sourceIp: source }
}
