/**
 * Starts the delivery threads with their settings from the configuration, and the release of scheduled
 * emails. Part of the composition root.
 */
import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import type { SmartHostAddress } from '../config/smart-host.ts'
import { every } from '../lib/clock.ts'
import { largeInputBytes, machineMemoryBytes } from '../lib/machine-memory.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import {
  GENERAL_SMART_HOST,
  type SmartHost,
  type SmartHostSettings,
} from '../pipeline/delivery/destinations/smart-host.ts'
import type { SourceReportOptions } from '../pipeline/delivery/shaping/source-report.ts'
import type { WarmupPlan } from '../pipeline/delivery/shaping/warmup-plan.ts'
import {
  type DeliverySettings,
  type DeliveryThreads,
  startDeliveryThreads,
} from '../pipeline/delivery/threads.ts'
import { leaseTerms } from '../pipeline/queue/leases.ts'
import { createReleaser } from '../pipeline/queue/release.ts'
import { SERVICE_MODE } from '../pipeline/queue/service-mode.ts'
import { MISSED } from '../store/model/command.ts'
import type { AppContext } from './context.ts'
import { fdBudget, threadCountOf } from './fd-budget.ts'

/**
 * Interval of looking up due work when other processes use the store, because their announcements may be
 * lost.
 */
const LOOKUP_INTERVAL_MS = 30_000

/** Starts the delivery threads and the release of scheduled emails. Resolves when the threads are ready. */
export async function startDelivery({
  config,
  simulatorDomains,
  clock,
  log,
  store,
  workers,
}: AppContext): Promise<DeliveryThreads> {
  const settings = deliverySettings(config, simulatorDomains)
  const { connections: wanted } = config.delivery
  if (settings.connections.max < wanted)
    log.warn(
      { event: 'delivery_connections_reduced', connections: settings.connections.max, wanted },
      'The limit of open files allows fewer concurrent deliveries than `delivery.connections`; raise it (ulimit -n)',
    )
  const threads = await startDeliveryThreads({
    entry: new URL('../workers/delivery.ts', import.meta.url),
    settings,
    db: store.db,
    run: store.run,
    connectWriter: store.connectThread,
    location: store.location,
    secret: workers.secret,
    clockSeat: workers.clockSeat,
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
  const poll = () => {
    threads.poll()
    releaser.note(clock.now())
  }
  store.on(MISSED, poll)
  store.on(SERVICE_MODE, poll)
  const looking = store.isShared ? every(clock, LOOKUP_INTERVAL_MS, poll) : undefined
  return {
    poll,
    pathsTo: threads.pathsTo,
    async stop(graceMs) {
      looking?.cancel()
      await releaser.stop()
      await threads.stop(graceMs)
    },
  }
}

/** @throws when the file of authorities cannot be read */
function deliverySettings(config: Config, simulatorDomains: ReadonlySet<string>): DeliverySettings {
  const { delivery, log, mailHost, dns, providers, smartHosts, fetch } = config
  const shares = fdBudget(config)
  return {
    threadCount: threadCountOf(delivery),
    largeMessageBytes: largeInputBytes(machineMemoryBytes()) / 2,
    logLevel: log.level,
    localName: mailHost,
    ownNames: [mailHost],
    simulatorDomains,
    sourceIps: delivery.sourceIps,
    warmup: warmupPlan(delivery),
    providers,
    smartHosts: smartHostSettings(delivery.smartHost, smartHosts),
    network: {
      resolvers: dns.resolvers,
      port: delivery.port,
      allowPrivateAddresses: delivery.allowPrivateAddresses,
      authorities: readAuthorities(delivery.caFile),
      fetchLoopback: fetch.allowLoopback,
    },
    connections: {
      max: shares.deliveries,
      maxIdle: shares.idle,
      maxPerAccount: delivery.accountConnections,
    },
    tls: {
      validatingResolver: dns.validatingResolver[0] ?? null,
      trustAd: dns.trustAd,
      signedName: dns.signedName,
      reports: delivery.tlsReportsFrom !== null,
      mtaSts: delivery.mtaSts,
      policyPort: delivery.policyPort,
    },
  }
}

/** Settings of the report on source addresses. */
export function sourceSettings({ delivery, mailHost }: Config): Omit<SourceReportOptions, 'db'> {
  return { sourceIps: delivery.sourceIps, localName: mailHost, plan: warmupPlan(delivery) }
}

function warmupPlan({ warmup, warmupCaps: caps }: Config['delivery']): WarmupPlan {
  return { caps, starts: new Map(warmup.map(({ address, start }) => [address, start])) }
}

function smartHostSettings(
  general: SmartHostAddress | null,
  families: Config['smartHosts'],
): SmartHostSettings {
  const named = (name: string, address: SmartHostAddress | null): SmartHost | null =>
    address && { name, ...address }
  const special = Object.entries(families).map(([name, { url, domains }]) => ({
    domains,
    smartHost: named(`${GENERAL_SMART_HOST}-${name}`, url),
  }))
  return { general: named(GENERAL_SMART_HOST, general), special }
}

/** @throws when the file cannot be read */
export function readAuthorities(caFile: string | null): string[] | undefined {
  return caFile === null ? undefined : [readFileSync(caFile, 'utf8')]
}
