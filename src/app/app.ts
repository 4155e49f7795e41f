/**
 * The composition root: builds every part of the service from the configuration, starts the parts in order
 * and stops them in reverse order. Called by `main.ts` and by tests.
 */

import type { Config } from '../config/config.ts'
import type { SettingInForce } from '../config/in-force.ts'
import { SEND_BODY_LIMIT_BYTES } from '../interfaces/api/emails/send-work.ts'
import type { AdjustableClock } from '../lib/adjustable-clock.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { createIdSource } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { largeInputBytes, machineMemoryBytes, NEEDED_BYTES } from '../lib/machine-memory.ts'
import { MemoryBudget } from '../lib/memory-budget.ts'
import { createProcessMetrics } from '../lib/metrics.ts'
import { createReaderPool } from '../lib/reader-pool.ts'
import { createSecretKeys } from '../lib/secret-keys.ts'
import type { DeliveryThreads } from '../pipeline/delivery/threads.ts'
import type { PathsTo } from '../pipeline/queue/paths.ts'
import { generateDkimKey } from '../protocols/dkim/keys.ts'
import type { FirstRun } from '../resources/accounts/first-run.ts'
import { createPasswords, type Passwords } from '../resources/accounts/password.ts'
import type { GenerateKey } from '../resources/domains/domains.ts'
import { UNSEALED } from '../store/model/search-index.ts'
import { awaitFolder } from '../store/opening/open.ts'
import { readOrCreateSecret, requireSameSecret } from '../store/opening/secret-file.ts'
import { checkBeforeStart } from '../store/opening/start-check.ts'
import type { ReaderProcessData } from '../workers/parse.ts'
import { startBackups } from './backups.ts'
import { openCertificates, startCertificateOrders } from './certificates.ts'
import type { AppContext } from './context.ts'
import { parkTasks } from './crashes.ts'
import { startDelivery } from './delivery.ts'
import { startProviderDns } from './dns.ts'
import { startHttpService } from './http.ts'
import { startInboundService } from './inbound.ts'
import { startKeyRotation } from './key-rotation.ts'
import { startLinkCertificateOrders } from './link-certificates.ts'
import { HTTP_GRACE_MS } from './listeners.ts'
import { startMachineWatch } from './machine-watch.ts'
import { startMaintenance } from './maintenance.ts'
import { startMtaSts } from './mta-sts.ts'
import { startNotifications } from './notifications.ts'
import { createQueryWorker } from './query-worker.ts'
import { createReadiness } from './readiness.ts'
import { checkListeners } from './start-faults.ts'
import {
  knownSimulatorDomains,
  LOCK_WAIT_MS_MAX,
  openPlans,
  openServiceMode,
  openServiceStore,
  startDatabaseCheck,
} from './storage.ts'
import { type SubmissionService, startSubmissionService } from './submission.ts'
import { checkUpgrade } from './upgrade.ts'

interface AppDeps {
  log: Log
  settings: readonly SettingInForce[]
  /** Called when nothing can be stored any more, so that the service must end. */
  onFatal(error: Error): void
  /** Replaces the system clock in all threads. */
  clock?: AdjustableClock
  generateKey?: GenerateKey
  passwords?: Passwords
}

export interface App {
  /** URL of the API. */
  baseUrl: string
  /** Address of the HTTPS listener; null when it is off. */
  secureAddress: { address: string; port: number } | null
  /** Address of the listener for metrics; null when it is off. */
  metricsAddress: { address: string; port: number } | null
  dnsAddress: { host: string; port: number } | null
  /** Address of the SMTP listener for inbound mail; null when it is off. */
  inboundAddress: { address: string; port: number } | null
  /** Addresses of the listeners for SMTP submission. */
  submission: SubmissionService
  /** Secrets of the first start, which are shown once. */
  firstRun: FirstRun | undefined
  /** Accepts no more work, waits for work in progress and closes everything. */
  stop(): Promise<void>
}

const DELIVERY_GRACE_MS = 20_000
/**
 * Heap limit of a reader process. A request body of 56 MB may exist three times, in two octets per character,
 * while it is parsed.
 */
const READER_HEAP_MIB = 768

/**
 * Builds and starts the service. Resolves when the service is ready.
 * @throws when a part cannot start
 */
export async function startApp(config: Config, deps: AppDeps): Promise<App> {
  await using stack = new AsyncDisposableStack()
  let delivery: DeliveryThreads | undefined
  const context = await openContext(config, deps, {
    stack,
    pathsTo: async destinations => delivery?.pathsTo(destinations) ?? new Map(),
  })
  const dns = await startProviderDns({
    config,
    store: context.store,
    clock: context.clock,
    log: context.log,
    entry: new URL('../workers/dns.ts', import.meta.url),
    clockSeat: context.workers.clockSeat,
  })
  stack.defer(dns.close)
  const backups = startBackups(context)
  const readiness = createReadiness({ store: context.store, dataDir: config.dataDir, clock: context.clock })
  const http = await startHttpService(context, { readiness, backups })
  const isWhole = config.roles.includes('all')
  if (isWhole) startKeyRotation(context)
  const inboundAddress = await startInboundService(context, http)
  if (isWhole) startMtaSts(context) // looks at the listener
  const submission = await startSubmissionService(context, http)
  if (isWhole) {
    await startNotifications(context, http)
    startMachineWatch(context, http, () => backups?.schedule.isUnderWay ?? false)
    delivery = await startDelivery(context)
    // last: the authority soon asks the listeners, and a failed order is repeated after ten minutes only
    startCertificateOrders(context)
    startLinkCertificateOrders(context)
    const { stop } = delivery
    stack.defer(() => stop(DELIVERY_GRACE_MS))
  }
  stack.defer(() => http.server.close(HTTP_GRACE_MS))
  stack.defer(readiness.stopping)
  readiness.started()
  const running = stack.move()
  return {
    baseUrl: http.baseUrl,
    secureAddress: http.secureAddress,
    metricsAddress: http.metricsAddress,
    dnsAddress: dns.address,
    inboundAddress,
    submission,
    firstRun: http.firstRun,
    stop: () => running.disposeAsync(),
  }
}

/** Opens the store and the other parts that all parts share. */
async function openContext(
  config: Config,
  deps: AppDeps,
  { stack, pathsTo }: { stack: AsyncDisposableStack; pathsTo: PathsTo },
): Promise<AppContext> {
  const { log, settings, clock = systemClock, generateKey = generateDkimKey } = deps
  const { passwords = createPasswords() } = deps
  const checked = await checkStart(config, log, clock)
  const store = await openServiceStore(config, { log, clock, onLoss: deps.onFatal })
  stack.defer(store.close)
  await parkTasks({ config, clock, log, store })
  if (checked.needsCheck) stack.defer(startDatabaseCheck({ clock, log, store }))
  const secret = checked.secret ?? readOrCreateSecret(config.dataDir)
  const secrets = createSecretKeys(secret)
  await requireSameSecret(store.db, store.run, secrets)
  const seed = { secret: new Uint8Array(secret), clockSeat: deps.clock?.seat ?? null }
  const reading = createQueryWorker({
    entry: new URL('../workers/query.ts', import.meta.url),
    location: store.location,
    connectWriter: store.connectThread,
    secret: seed.secret,
    clock,
    clockSeat: seed.clockSeat,
    logLevel: config.log.level,
    log,
  })
  stack.defer(reading.stop)
  store.on(UNSEALED, reading.start) // it builds index blocks
  const serviceMode = await openServiceMode({ log, store })
  const plans = await openPlans({ config, clock, log, store })
  const { feedback: rates, logs } = config
  stack.defer(
    startMaintenance({ store, plans, rates, logRetentionDays: logs.retentionDays, clock, log }).stop,
  )
  const certificates = await openCertificates({ config, clock, log, store, secrets })
  stack.defer(certificates.close)
  const simulatorDomains = await knownSimulatorDomains(config, store)
  const metrics = createProcessMetrics()
  const readers = createReaderPool({
    name: 'reader',
    entry: new URL('../workers/parse.ts', import.meta.url),
    data: { location: store.location, mailHost: config.mailHost } satisfies ReaderProcessData,
    heapMib: READER_HEAP_MIB,
    metrics,
    clock,
    log,
  })
  stack.defer(() => readers.close())
  return {
    ...{ config, settings, clock, log, metrics, stack, store, plans, serviceMode, simulatorDomains },
    newId: createIdSource(),
    security: { secrets, passwords, generateKey, certificates },
    workers: { reader: reading.reader, readers, pathsTo, ...seed },
    largeInput: openLargeInput(machineMemoryBytes(), { clock, log }),
  }
}

/** @throws StartFault before anything is written, when the service cannot start */
async function checkStart(config: Config, log: Log, clock: Clock) {
  const { dataDir, database, secretKey } = config
  const checked = await checkBeforeStart({ dataDir, ...database, secretKey })
  checkUpgrade(config, checked.pending, log)
  for (const note of checked.notes) log.warn({ event: 'start_note' }, note)
  await awaitFolder({ dataDir, clock, patienceMs: LOCK_WAIT_MS_MAX }) // its process uses the ports, too
  await checkListeners(config, { clock, log })
  return checked
}

/** Shares out the memory that the service may use, and says when it has less than it needs. */
function openLargeInput(machineBytes: number, { clock, log }: { clock: Clock; log: Log }): MemoryBudget {
  const mib = (bytes: number) => Math.floor(bytes / 1024 / 1024)
  if (machineBytes < NEEDED_BYTES)
    log.warn(
      { event: 'memory_small', bytes: machineBytes },
      `The service may use ${mib(machineBytes)} MB of memory and needs ${mib(NEEDED_BYTES)} MB`,
    )
  return new MemoryBudget(largeInputBytes(machineBytes), clock, SEND_BODY_LIMIT_BYTES)
}
