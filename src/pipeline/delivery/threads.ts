/**
 * The delivery threads as the main thread sees them: started, told of due queue keys, restarted when one
 * dies, stopped.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { ClockSeat } from '../../lib/adjustable-clock.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { Log, LogLevel } from '../../lib/log.ts'
import { BUSY_THREAD } from '../../lib/thread-memory.ts'
import { SupervisedWorker } from '../../lib/worker.ts'
import { type Caller, createCaller, WorkerEnded } from '../../lib/worker-rpc.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import type { StoreLocation } from '../../store/opening/dialect.ts'
import type { queueCommands } from '../queue/commands.ts'
import { type LeaseTerms, type LeaseWork, startLeaseWatch } from '../queue/leases.ts'
import type { PathState, PathsTo } from '../queue/paths.ts'
import { type DueQueueKey, listDueQueueKeys } from '../queue/queue-key-rows.ts'
import type { LimitSettings } from './destinations/providers.ts'
import type { SmartHostSettings } from './destinations/smart-host.ts'
import { UNSTORED } from './recorder.ts'
import type { SourceIp } from './shaping/source-ips.ts'
import type { WarmupPlan } from './shaping/warmup-plan.ts'

/** Data with which a delivery thread starts. */
export interface DeliveryThreadData {
  settings: DeliverySettings
  index: number
  owner: string
  leases: LeaseTerms
  writer: MessagePort
  /** Port for calls such as `pathsTo`. */
  calls: MessagePort
  location: StoreLocation
  secret: Uint8Array
  clockSeat: ClockSeat | null
  /** Name of the broadcast channel on which threads pass queue keys to each other. */
  queueKeysChannel: string
}

export interface DeliverySettings {
  threadCount: number
  /** Memory of the large messages that all threads may send at the same time. */
  largeMessageBytes: number
  logLevel: LogLevel
  /** EHLO name. */
  localName: string
  /** Host names of this installation: mail to them is delivered here. */
  ownNames: string[]
  simulatorDomains: ReadonlySet<string>
  sourceIps: readonly SourceIp[]
  warmup: WarmupPlan
  providers: LimitSettings
  smartHosts: SmartHostSettings
  network: NetworkSettings
  connections: ConnectionSettings
  tls: TlsSettings
}

interface NetworkSettings {
  resolvers: readonly string[]
  /** SMTP port of MX hosts. */
  port: number
  allowPrivateAddresses: boolean
  /** Trusted certificate authorities as PEM, instead of those of the runtime. */
  authorities: string[] | undefined
  /** Whether policies may be fetched from loopback addresses, for tests. */
  fetchLoopback: boolean
}

interface ConnectionSettings {
  /** Maximum number of concurrent deliveries in all threads. */
  max: number
  /** Maximum number of idle sessions in all threads. */
  maxIdle: number
  /** Maximum number of concurrent deliveries of an account; null for no limit. */
  maxPerAccount: number | null
}

interface TlsSettings {
  /** Resolver that validates DNSSEC; null if DANE is off. */
  validatingResolver: string | null
  /** Whether its AD flag is trusted although it is on another host. */
  trustAd: boolean
  /** Signed name with which its validation is tested. */
  signedName: string
  /** Whether results are counted for TLS reports. */
  reports: boolean
  mtaSts: boolean
  /** HTTPS port of hosts with MTA-STS policies. */
  policyPort: number
}

export type DeliveryOrder =
  | { order: 'queueKeys'; queueKeys: DueQueueKey[] }
  | { order: 'stop'; graceMs: number }
export type DeliveryNotice = { notice: 'ready' } | { notice: 'stopped' }

/** Calls that a delivery thread answers. */
export type DeliveryFunctions = {
  pathsTo: PathsTo
}

export interface DeliveryThreads {
  /** Returns the paths of all threads. */
  pathsTo: PathsTo
  /** Looks up due queue keys again, because an announcement may have been missed. */
  poll(): void
  /** @param graceMs time for attempts in progress to end, in ms */
  stop(graceMs: number): Promise<void>
}

interface ThreadsOptions {
  entry: URL
  settings: DeliverySettings
  db: Db
  run: Run<Pick<typeof queueCommands, 'reclaimLeases'>>
  leases: LeaseTerms
  clock: Clock
  connectWriter(): MessagePort
  location: StoreLocation
  secret: Uint8Array
  clockSeat: ClockSeat | null
  log: Log
}

/** A thread that has not stopped this long after the grace period is terminated, in ms. */
const TERMINATE_AFTER_MS = 5_000

/** Reclaims the leases of the previous run and starts all threads. Resolves when all are ready. */
export async function startDeliveryThreads(options: ThreadsOptions): Promise<DeliveryThreads> {
  const { run, clock, log, db, settings } = options
  const { leaseMs, onUnknown } = options.leases
  const leases = await reclaimOldLeases(options)
  const instance = `${process.pid}-${crypto.randomUUID()}`
  const queueKeysChannel = `queueKeys-${instance}`
  const callers: Caller[] = []
  let startCount = 0

  const supervise = (index: number) => {
    let owner = ''
    return new SupervisedWorker({
      name: 'delivery',
      index,
      entry: options.entry,
      limits: BUSY_THREAD,
      open() {
        owner = `${instance}.${++startCount}.${index}`
        const { data, calls } = threadData(options, index, owner, queueKeysChannel)
        callers[index] = createCaller(calls)
        return { data, transfer: [data.writer, data.calls] }
      },
      beforeRestart: async () => {
        await run('reclaimLeases', { owner, now: clock.now(), leaseMs, onUnknown })
      },
      onRestart: () => poll(),
      clock: systemClock,
      log,
    })
  }
  const threads = Array.from({ length: settings.threadCount }, (_, index) => supervise(index))
  /**
   * All threads are told, because the thread that owns a domain forwards its queue key to the thread that
   * owns the destination: both must be listening.
   */
  const announceDue = async () => {
    const order: DeliveryOrder = { order: 'queueKeys', queueKeys: await listDueQueueKeys(db) }
    for (const thread of threads) thread.post(order)
  }
  const poll = () => {
    announceDue().catch(error =>
      log.warn({ event: 'due_lookup_failed', err: error }, 'Due deliveries could not be looked up'),
    )
  }

  await Promise.all(threads.map(thread => thread.start()))
  await announceDue()
  return {
    poll,
    async pathsTo(destinations) {
      const told = await Promise.all(callers.map(caller => pathsBy(caller, destinations)))
      return new Map(told.flatMap(paths => [...paths]))
    },
    async stop(graceMs) {
      await leases?.stop()
      const order: DeliveryOrder = { order: 'stop', graceMs }
      const codes = await Promise.all(threads.map(thread => thread.stop(order, graceMs + TERMINATE_AFTER_MS)))
      if (codes.includes(UNSTORED)) process.exitCode = 1
    },
  }
}

/**
 * With one process, all leases are from a previous run and void. With several, only expired leases are.
 */
async function reclaimOldLeases({ run, clock, leases, log }: ThreadsOptions): Promise<LeaseWork | undefined> {
  const { leaseMs, isShared, onUnknown } = leases
  const become = onUnknown === 'hold' ? 'they are held until an operator releases them' : 'they were requeued'
  if (isShared)
    return startLeaseWatch({
      run,
      clock,
      leaseMs,
      onUnknown,
      onReclaimed: voided =>
        log.warn({ event: 'leases_expired', count: voided }, `${voided} delivery leases expired; ${become}`),
      onError: error =>
        log.warn({ event: 'lease_check_failed', err: error }, 'Delivery leases could not be checked'),
    })
  const voided = await run('reclaimLeases', { owner: null, now: clock.now(), leaseMs, onUnknown })
  if (voided > 0)
    log.warn(
      { event: 'deliveries_interrupted', count: voided },
      `${voided} deliveries were in progress when the previous process ended; ${become}`,
    )
  return undefined
}

/** Returns the paths of one thread; none of a thread that has just died. */
async function pathsBy(caller: Caller, destinations: readonly string[]): ReturnType<PathsTo> {
  try {
    return (await caller.call('pathsTo', destinations)) as Map<string, PathState[]>
  } catch (error) {
    if (error instanceof WorkerEnded) return new Map()
    throw error
  }
}

function threadData(options: ThreadsOptions, index: number, owner: string, queueKeysChannel: string) {
  const { settings, location, secret, clockSeat, leases } = options
  const { port1, port2 } = new MessageChannel()
  const data: DeliveryThreadData = {
    settings,
    index,
    owner,
    leases,
    writer: options.connectWriter(),
    calls: port2,
    location,
    secret,
    clockSeat,
    queueKeysChannel,
  }
  return { data, calls: port1 }
}
