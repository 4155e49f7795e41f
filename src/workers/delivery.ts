/**
 * Entry of a delivery thread: builds its delivery worker, connects the worker to the writer and the other
 * threads, and stops it.
 *
 * In: settings and orders of the main thread, announcements of the writer. Out: notices to the main thread,
 * commands to the writer. Started by `pipeline/delivery/threads.ts`.
 */
import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads'
import { createAdjustableClock } from '../lib/adjustable-clock.ts'
import { systemClock } from '../lib/clock.ts'
import { createEventLoopUtilization } from '../lib/event-loop-utilization.ts'
import { collectGarbageWhenIdle } from '../lib/idle-gc.ts'
import type { Id } from '../lib/ids.ts'
import { createLog } from '../lib/log.ts'
import { createOnDemandWorker } from '../lib/on-demand-worker.ts'
import { createSecretKeys } from '../lib/secret-keys.ts'
import { QUIET_THREAD } from '../lib/thread-memory.ts'
import { serveCalls } from '../lib/worker-rpc.ts'
import { createDeliveryLog } from '../pipeline/delivery/delivery-log.ts'
import { destinationLimits } from '../pipeline/delivery/destinations/providers.ts'
import { createSmartHostOf } from '../pipeline/delivery/destinations/smart-host.ts'
import { createLocalDelivery } from '../pipeline/delivery/local-delivery.ts'
import { createKeyRing } from '../pipeline/delivery/message/key-ring.ts'
import { LargeMessages } from '../pipeline/delivery/message/large-messages.ts'
import { createMessageMaker } from '../pipeline/delivery/message/message.ts'
import { createMayReturn } from '../pipeline/delivery/missing-domain.ts'
import { createAlerts } from '../pipeline/delivery/outcome/alerts.ts'
import { UNSTORED } from '../pipeline/delivery/recorder.ts'
import { createRouter, type DeliveryRoute } from '../pipeline/delivery/route.ts'
import { createSessionPool } from '../pipeline/delivery/sessions/session-pool.ts'
import { createAdaptiveLimit } from '../pipeline/delivery/shaping/adaptive-limit.ts'
import { createCapRegistry } from '../pipeline/delivery/shaping/caps.ts'
import { createSlots } from '../pipeline/delivery/shaping/slots.ts'
import { checkSourceNames, createSourceIps } from '../pipeline/delivery/shaping/source-ips.ts'
import { createWarmupBudgets } from '../pipeline/delivery/shaping/warmup-budget.ts'
import type {
  DeliveryFunctions,
  DeliveryNotice,
  DeliveryOrder,
  DeliveryThreadData,
} from '../pipeline/delivery/threads.ts'
import { openTlsPolicies } from '../pipeline/delivery/tls-policies.ts'
import { DeliveryWorker } from '../pipeline/delivery/worker.ts'
import {
  listDestinationCaps,
  listPausedDestinations,
  RESUMED,
  SLOWED,
} from '../pipeline/queue/destination-states.ts'
import { HELD } from '../pipeline/queue/hold.ts'
import { startLeaseKeeper, trackLeases } from '../pipeline/queue/leases.ts'
import { type DueQueueKey, stepDeferredQueueKeys } from '../pipeline/queue/queue-key-rows.ts'
import { waitingAt } from '../pipeline/queue/waiting-mail.ts'
import { recordFollowUps, simulate } from '../pipeline/simulator/simulate.ts'
import { createSigner } from '../protocols/dkim/signer.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { DKIM_KEYS_CHANGED, HOSTING_CHANGED } from '../resources/domains/domain-rows.ts'
import { createHostedDomains } from '../resources/domains/hosted.ts'
import { createBlobReservations } from '../store/blobs/reservations.ts'
import { MISSED } from '../store/model/command.ts'
import type { MailSelector } from '../store/model/schema/steering.ts'
import { openReader } from '../store/opening/dialect.ts'
import { createWriterClient } from '../store/writer/client.ts'
import type { ServiceCommands } from './commands.ts'

interface ForwardedQueueKey {
  to: number
  queueKey: DueQueueKey
  route: DeliveryRoute
}

/** Maximum delay of a result while it waits for others, so that commits are fewer and larger. */
const FINISH_DELAY_MS_MAX = 20

collectGarbageWhenIdle()

const data = workerData as DeliveryThreadData
const { settings } = data
const { network, connections } = settings
const control = parentPort!
const adjustable = data.clockSeat ? createAdjustableClock(data.clockSeat) : undefined
const clock = adjustable ?? systemClock
const log = createLog(settings.logLevel).child({ thread: `delivery-${data.index}` })
const events = createDeliveryLog(log)
const secrets = createSecretKeys(data.secret)
const writer = createWriterClient<ServiceCommands>(data.writer, {
  clock,
  lazyMs: { finish: FINISH_DELAY_MS_MAX },
})
const { db, find, blobs } = openReader(data.location)
const resolver = createResolver({ servers: network.resolvers, clock })
const queueKeys = new BroadcastChannel(data.queueKeysChannel)
const random = Math.random
let stopping = false
const tls = openTlsPolicies({
  settings,
  clock,
  resolver,
  find,
  run: writer.run,
  log: events,
  logsDane: data.index === 0,
})
const limitsOf = destinationLimits(settings.providers)
const caps = createCapRegistry(() => listDestinationCaps(db))
await caps.read()
const smartHostOf = createSmartHostOf(settings.smartHosts)
const alerts = createAlerts(writer.run, events.alertRaised)

const slotsMax = Math.ceil(connections.max / settings.threadCount)
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
  simulatorDomains: settings.simulatorDomains,
  ownNames: settings.ownNames,
  smartHostOf,
  securityOf: tls.securityOf,
  hostedOf: hosted.find,
})
const worker = new DeliveryWorker({
  clock,
  transport: {
    clock,
    resolver,
    random,
    localName: settings.localName,
    port: network.port,
    allowPrivateAddresses: network.allowPrivateAddresses,
    tlsPolicies: tls.tlsPolicies,
    tlsResults: tls.tlsResults,
    sourceIps: createSourceIps(settings.sourceIps, clock),
    pool: createSessionPool(clock, {
      messagesPerConnection: host => limitsOf(host).messagesPerConnection,
      maxIdle: Math.ceil(connections.maxIdle / settings.threadCount),
    }),
    smartHostOf,
    simulate,
    deliverLocally: createLocalDelivery({
      run: writer.run,
      blobs,
      reservations: createBlobReservations({ blobs, db, onLeftBehind: events.fileNotRemoved }),
      localName: settings.localName,
    }),
    mayReturn: createMayReturn({ find, clock }),
  },
  thread: {
    owner: data.owner,
    leaseMs: data.leases.leaseMs,
    index: data.index,
    threadCount: settings.threadCount,
  },
  queries: {
    deferredQueueKeysOf: (destination, domain) => stepDeferredQueueKeys(db, destination, domain),
    waitingIn: (queueKey, after, limit) => waitingAt({ db }, { kind: 'queueKey', queueKey }, after, limit),
  },
  events: {
    async onStored(delivery, result) {
      events.attemptFinished(delivery, result)
      if (result.alert) await alerts.raise(delivery, result, clock.now())
      if (result.simulated) await recordFollowUps(writer.run, delivery, result, clock.now())
    },
    onBreakerOpen: events.destinationPaused,
    onResumed: events.destinationRetryRequested,
    onRecovery: events.destinationResumed,
    onError: events.stepFailed,
  },
  run: leases?.run ?? writer.run,
  slots: createSlots({
    adaptiveLimit: createAdaptiveLimit({
      clock,
      busyShare: createEventLoopUtilization(),
      max: slotsMax,
    }),
    max: slotsMax,
    maxPerAccount: Math.ceil((connections.maxPerAccount ?? Number.POSITIVE_INFINITY) / settings.threadCount),
  }),
  warmupBudgets: createWarmupBudgets({
    clock,
    run: writer.run,
    plan: settings.warmup,
    onSpent: events.warmupSpent,
    onError: events.warmupGrantFailed,
  }),
  limitsOf,
  capOf: caps.capOf,
  router,
  largeMessages: new LargeMessages(settings.largeMessageBytes / settings.threadCount),
  maker: createMessageMaker({ db, find, blobs, secrets, keyRing, sign: createSigner(signing) }),
  forward: (to, queueKey, route) =>
    queueKeys.postMessage({ to, queueKey, route } satisfies ForwardedQueueKey),
})

const keeper =
  leases &&
  startLeaseKeeper({
    run: writer.run,
    clock,
    held: leases.all,
    leaseMs: data.leases.leaseMs,
    onError: events.leaseRenewalFailed,
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
  const { to, queueKey, route } = message as ForwardedQueueKey
  if (to === data.index) worker.addForwarded(queueKey, route)
}
control.on('message', (message: DeliveryOrder) => {
  if (message.order === 'queueKeys') return worker.addDue(message.queueKeys)
  stop(message.graceMs)
    .catch(events.stopFailed)
    // Attempts that are still in progress keep their sockets, and thereby the thread. Their leases are void
    // at the next start.
    .finally(() => process.exit(process.exitCode))
})
worker.restoreBreakers(await listPausedDestinations(db, clock.now()))
control.postMessage({ notice: 'ready' } satisfies DeliveryNotice)
// receivers check these names; only one thread reports faults of them
if (data.index === 0)
  checkSourceNames(resolver, settings.sourceIps, settings.localName, (address, fault) => {
    if (!stopping) events.sourceNameInvalid(address, fault)
  }).catch(events.sourceNameCheckFailed)

function readCaps() {
  caps
    .read()
    .then(destinations => {
      for (const destination of destinations) worker.updateRate(destination)
    })
    .catch(events.rateLimitsReadFailed)
}

async function stop(graceMs: number) {
  stopping = true
  const unstored = await worker.stop(graceMs)
  if (unstored > 0) {
    events.resultsNotStored(unstored)
    process.exitCode = UNSTORED
  }
  await tls.close()
  data.calls.close()
  await keeper?.stop()
  await signing.close()
  resolver.close()
  queueKeys.close()
  writer.close()
  await db.destroy()
  adjustable?.close()
  control.close()
}
