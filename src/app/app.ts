/**
 * The composition root: builds every part of the service from the configuration, starts the parts in order
 * and stops them in reverse order. Called by `main.ts` and by tests.
 */

import type { Config } from '../config/config.ts'
import type { AdjustableClock } from '../lib/adjustable-clock.ts'
import { type Clock, every, systemClock } from '../lib/clock.ts'
import type { Id } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createProcessMetrics } from '../lib/metrics.ts'
import { createReaderPool, type ReaderPool } from '../lib/reader-pool.ts'
import { createSecretKeys } from '../lib/secret-keys.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import { type DeliveryThreads, startDeliveryThreads } from '../pipeline/delivery/threads.ts'
import { leaseTerms } from '../pipeline/queue/leases.ts'
import type { PathsTo } from '../pipeline/queue/paths.ts'
import { createReleaser } from '../pipeline/queue/release.ts'
import { generateDkimKey } from '../protocols/dkim/keys.ts'
import { plansInUse } from '../resources/accounts/account-rows.ts'
import type { FirstRun } from '../resources/accounts/first-run.ts'
import { createPasswords, type Passwords } from '../resources/accounts/password.ts'
import { createPlans } from '../resources/accounts/plans.ts'
import type { GenerateKey } from '../resources/domains/domains.ts'
import { MISSED } from '../store/model/command.ts'
import { awaitFolder, openStore, type Store } from '../store/opening/open.ts'
import { readOrCreateSecret, requireSameSecret } from '../store/opening/secret-file.ts'
import { checkBeforeStart } from '../store/opening/start-check.ts'
import type { ServiceCommands } from '../workers/commands.ts'
import type { ReaderProcessData } from '../workers/parse.ts'
import { openCertificates, startCertificateOrders } from './certificates.ts'
import type { AppContext } from './context.ts'
import { startDatabaseCheck } from './database-check.ts'
import { deliverySettings } from './delivery-settings.ts'
import { startProviderDns } from './dns.ts'
import { startDsnNotices } from './dsn-notices.ts'
import { baseUrlOf, type HttpService, startHttpService } from './http.ts'
import { startInboundService } from './inbound.ts'
import { startKeyRotation } from './key-rotation.ts'
import { startLinkCertificateOrders } from './link-certificates.ts'
import { checkListeners } from './listener-check.ts'
import { startMaintenance } from './maintenance.ts'
import { startMtaSts } from './mta-sts.ts'
import { parkTasks } from './parked-tasks.ts'
import { startQueryWorker } from './query-worker.ts'
import { createReadiness } from './readiness.ts'
import { knownSimulatorDomains } from './simulator-domains.ts'
import { type SubmissionService, startSubmissionService } from './submission.ts'
import { startWebhookDispatch } from './webhooks.ts'

interface AppDeps {
  log: Log
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

/** Time to wait for the lock of the data folder, which the command line holds for a moment. */
const LOCK_WAIT_MS_MAX = 5_000
const HTTP_GRACE_MS = 5_000
const DELIVERY_GRACE_MS = 20_000
/**
 * Heap limit of a reader process. A request body of 56 MB may exist three times, in two octets per character,
 * while it is parsed.
 */
const READER_HEAP_MIB = 768
/** Time that commands without a waiting caller are delayed, in ms, so that they share larger commits. */
const LAZY_MS = { listInbound: 20 }
/**
 * Interval of looking up due work when other processes use the store, because their announcements may be
 * lost.
 */
const LOOKUP_INTERVAL_MS = 30_000

/**
 * Builds and starts the service. Resolves when the service is ready.
 * @throws when a part cannot start
 */
export async function startApp(config: Config, deps: AppDeps): Promise<App> {
  const { log } = deps
  const clock = deps.clock ?? systemClock
  const given = { generateKey: generateDkimKey, passwords: createPasswords(), ...deps, config, clock }
  const started: (() => unknown)[] = []
  const stop = async () => {
    for (const close of started.splice(0).reverse()) await close()
  }
  try {
    const checked = await checkStart(config, log, clock)
    const store = await openServiceStore(config, deps, clock)
    started.push(store.close)
    await parkTasks({ config, clock, log, store })
    if (checked.needsCheck) started.push(startDatabaseCheck({ clock, log, store }))
    const secret = checked.secret ?? readOrCreateSecret(config.dataDir)
    const secrets = createSecretKeys(secret)
    await requireSameSecret(store.db, store.run, secrets)
    const reading = startQueryWorker({
      entry: new URL('../workers/query.ts', import.meta.url),
      location: store.location,
      connectWriter: store.connectThread,
      secret: new Uint8Array(secret),
      clock,
      clockSeat: deps.clock?.seat ?? null,
      logLevel: config.log.level,
      log,
    })
    started.push(reading.stop)
    const plans = await openPlans(config, store, clock, log)
    const { feedback: rates, logs } = config
    const logRetentionDays = logs.retentionDays
    started.push(startMaintenance({ store, plans, rates, logRetentionDays, clock, log }).stop)
    const certificates = await openCertificates({ config, clock, log, store, secrets })
    started.push(certificates.close)
    let delivery: DeliveryThreads | undefined
    const pathsTo: PathsTo = async sites => delivery?.pathsTo(sites) ?? new Map()
    const mail = { plans, pathsTo, simulatorDomains: await knownSimulatorDomains(config, store) }
    const metrics = createProcessMetrics()
    const readers = openReaders({ config, store, metrics, clock, log }, started)
    const parts = { ...given, ...mail, metrics, readers, store, secrets, reading, certificates }
    const dns = await startProviderDns({
      ...parts,
      entry: new URL('../workers/dns.ts', import.meta.url),
      clockSeat: deps.clock?.seat ?? null,
    })
    started.push(dns.close)
    const readiness = createReadiness({ store, dataDir: config.dataDir, clock })
    const { http, firstRun, ...behind } = await startHttpService(parts, readiness.notReady, started)
    const isWhole = config.roles.includes('all')
    if (isWhole) {
      started.push(startKeyRotation(parts))
      started.push(startCertificateOrders(parts), startLinkCertificateOrders(parts))
    }
    const inbound = await startInboundService(parts)
    started.push(inbound.close)
    if (isWhole) started.push(startMtaSts(parts)) // looks at the listener
    const submission = await startSubmissionService(parts, behind, started)
    if (isWhole) started.push(await startNotifying(parts, behind, secret, deps.clock))
    delivery = isWhole ? await startDelivery(parts, secret, deps.clock) : undefined
    started.push(
      () => delivery?.stop(DELIVERY_GRACE_MS),
      () => http.close(HTTP_GRACE_MS),
      readiness.stopping,
    )
    readiness.started()
    return {
      baseUrl: baseUrlOf(config, http.address()),
      secureAddress: http.secureAddress,
      dnsAddress: dns.address,
      inboundAddress: inbound.address,
      submission,
      firstRun,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** @throws StartFault before anything is written, when the service cannot start */
async function checkStart(config: Config, log: Log, clock: Clock) {
  const { dataDir, database, secretKey } = config
  const checked = await checkBeforeStart({ dataDir, ...database, secretKey })
  for (const note of checked.notes) log.warn({ event: 'start_note' }, note)
  await awaitFolder({ dataDir, clock, patienceMs: LOCK_WAIT_MS_MAX }) // its process uses the ports, too
  await checkListeners(config, { clock, log })
  return checked
}

/** Creates the pool of reader processes, which start on demand. */
function openReaders(
  { config, store, ...parts }: Pick<AppContext, 'config' | 'store' | 'metrics' | 'clock' | 'log'>,
  started: (() => unknown)[],
): ReaderPool {
  const readers = createReaderPool({
    name: 'reader',
    entry: new URL('../workers/parse.ts', import.meta.url),
    data: { location: store.location, mailHost: config.mailHost } satisfies ReaderProcessData,
    heapMib: READER_HEAP_MIB,
    ...parts,
  })
  started.push(() => readers.close())
  return readers
}

async function openServiceStore(config: Config, { log, onFatal }: AppDeps, clock: Clock) {
  const place = { dataDir: config.dataDir, url: config.database.url }
  const { startNew } = config.database
  const store = await openStore<ServiceCommands>({
    ...place,
    writerThread: new URL('../workers/writer.ts', import.meta.url),
    clock,
    onLoss: onFatal,
    lazyMs: LAZY_MS,
    patienceMs: LOCK_WAIT_MS_MAX,
  })
  if (store.migrations.length > 0)
    log.info({ event: 'database_migrated', migrations: store.migrations }, 'The database was migrated')
  else if (startNew)
    log.warn(
      { event: 'start_new_ignored' },
      '`database.start_new` is set, but the database is not new; remove the setting',
    )
  return store
}

/** Starts what tells others of events: webhooks, and notifications to clients of SMTP submission. */
async function startNotifying(
  parts: AppContext,
  { accept, preparation }: Pick<HttpService, 'accept' | 'preparation'>,
  secret: Buffer,
  adjustable: AdjustableClock | undefined,
): Promise<() => Promise<void>> {
  const stopWebhooks = await startWebhookDispatch({
    ...parts,
    ...{ accept, preparation },
    entry: new URL('../workers/webhook.ts', import.meta.url),
    secret: new Uint8Array(secret),
    clockSeat: adjustable?.seat ?? null,
  })
  const notices = startDsnNotices(parts, { accept, preparation })
  return async () => {
    await notices.stop()
    await stopWebhooks()
  }
}

async function startDelivery(
  { config, simulatorDomains, clock, log, store }: AppContext,
  secret: Buffer,
  adjustable: AdjustableClock | undefined,
): Promise<DeliveryThreads> {
  const settings = deliverySettings(config, simulatorDomains)
  const { connections: wanted } = config.delivery
  if (settings.connections < wanted)
    log.warn(
      { event: 'delivery_connections_reduced', connections: settings.connections, wanted },
      'The limit of open files allows fewer concurrent deliveries than `delivery.connections`; raise it (ulimit -n)',
    )
  const threads = await startDeliveryThreads({
    entry: new URL('../workers/delivery.ts', import.meta.url),
    settings,
    db: store.db,
    run: store.run,
    connectWriter: store.connectThread,
    location: store.location,
    secret: new Uint8Array(secret),
    clockSeat: adjustable?.seat ?? null,
    leases: leaseTerms(store.isShared, config.delivery.unknownOutcome),
    clock,
    log,
  })
  const failed = throttledLog(
    { log, clock },
    'error',
    'scheduled_release_failed',
    'Scheduled emails could not be put into the queue; retrying',
  )
  const releaser = createReleaser({ run: store.run, clock, onError: error => failed({ err: error }) })
  store.on('scheduled', times => {
    for (const at of times as number[]) releaser.note(at)
  })
  const look = () => {
    threads.look()
    releaser.note(clock.now())
  }
  store.on(MISSED, look)
  const looking = store.isShared ? every(clock, LOOKUP_INTERVAL_MS, look) : undefined
  return {
    look,
    pathsTo: threads.pathsTo,
    async stop(graceMs) {
      looking?.cancel()
      await releaser.stop()
      await threads.stop(graceMs)
    },
  }
}

async function openPlans(
  { plans: configured }: Config,
  store: Store<ServiceCommands>,
  clock: Clock,
  log: Log,
) {
  const onAccountChanged = (listener: (accountId: Id) => void) =>
    store.on('account', accountIds => {
      for (const accountId of accountIds) listener(accountId as Id)
    })
  const plans = createPlans({ plans: configured, find: store.find, clock, onAccountChanged })
  const lost = (await plansInUse(store.db)).filter(name => !plans.all.has(name))
  if (lost.length > 0)
    log.warn(
      { event: 'plans_missing', plans: lost },
      'Accounts use plans that are not configured; no limits and no retention apply to them',
    )
  return plans
}
