/**
 * The delivery threads as the main thread sees them: started, told of due queue keys, restarted when one
 * dies, stopped.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { ClockSeat } from '../../lib/adjustable-clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log, LogLevel } from '../../lib/log.ts'
import { BUSY_THREAD } from '../../lib/thread-memory.ts'
import { type Caller, createCaller, WorkerEnded } from '../../lib/worker-rpc.ts'
import type { Run } from '../../store/command.ts'
import type { StoreLocation } from '../../store/dialect.ts'
import type { Db } from '../../store/schema.ts'
import type { queueCommands } from '../queue/commands.ts'
import { type LeaseTerms, type LeaseWork, startLeaseWatch } from '../queue/leases.ts'
import type { PathState, PathsTo } from '../queue/paths.ts'
import { type DueQueueKey, listDueQueueKeys } from '../queue/queue-key-rows.ts'
import type { LimitSettings } from './providers.ts'
import { UNSTORED } from './recorder.ts'
import type { SourceIp } from './shaping/source-ips.ts'
import type { WarmupPlan } from './shaping/warmup-plan.ts'
import type { SmartHostSettings } from './smart-host.ts'

/** What a delivery thread is told at its start. */
export interface DeliveryThreadData extends DeliverySettings {
  index: number
  owner: string
  leases: LeaseTerms
  writer: MessagePort
  /** On which it is asked. */
  calls: MessagePort
  location: StoreLocation
  secret: Uint8Array
  clockSeat: ClockSeat | null
  /** Name of the broadcast channel on which threads pass queue keys to each other. */
  queueKeysChannel: string
}

export interface DeliverySettings {
  threadCount: number
  logLevel: LogLevel
  /** EHLO name. */
  localName: string
  /** Names under which this installation takes mail itself. */
  ownNames: string[]
  simulatorDomains: ReadonlySet<string>
  resolvers: readonly string[]
  port: number
  allowPrivateAddresses: boolean
  sourceIps: readonly SourceIp[]
  warmup: WarmupPlan
  /** PEM of the authorities to trust, in place of the runtime's. */
  authorities: string[] | undefined
  /** Deliveries under way at once, in all threads. */
  connections: number
  /** Sessions kept for the next message, in all threads. */
  idleConnections: number
  /** Of one account; any number when null. */
  accountConnections: number | null
  providers: LimitSettings
  smartHosts: SmartHostSettings
  /** Null where DANE is off. */
  validatingResolver: string | null
  /** Whether it is believed where it is not on this host. */
  trustAd: boolean
  /** By which it shows that it validates. */
  signedName: string
  /** Whether results are counted for TLS reports. */
  tlsReports: boolean
  mtaSts: boolean
  /** Of hosts with MTA-STS policies. */
  policyPort: number
  /** Whether they may be on this host, for tests. */
  fetchLoopback: boolean
}

export type DeliveryOrder =
  | { order: 'queueKeys'; queueKeys: DueQueueKey[] }
  | { order: 'stop'; graceMs: number }
export type DeliveryNotice = { notice: 'ready' } | { notice: 'stopped' }

/** What can be asked of a delivery thread. */
export type DeliveryFunctions = {
  pathsTo: PathsTo
}

export interface DeliveryThreads {
  /** Of all threads. */
  pathsTo: PathsTo
  /** Something may have become due of which nobody has been told. */
  look(): void
  /** @param graceMs for attempts under way */
  stop(graceMs: number): Promise<void>
}

interface ThreadsOptions {
  entry: URL
  settings: DeliverySettings
  db: Db
  run: Run<Pick<typeof queueCommands, 'voidLeases'>>
  leases: LeaseTerms
  clock: Clock
  connectWriter(): MessagePort
  location: StoreLocation
  secret: Uint8Array
  clockSeat: ClockSeat | null
  log: Log
}

const RESTART_DELAY_MS = 1_000
/** Beyond the grace given to attempts. */
const TERMINATE_AFTER_MS = 5_000

/** Sees to the leases of a former life, then starts all threads; resolves when they are at work. */
export async function startDeliveryThreads(options: ThreadsOptions): Promise<DeliveryThreads> {
  const { run, clock, log, db, settings } = options
  const { leaseMs, onUnknown } = options.leases
  const leases = await seeToLeases(options)
  const instance = `${process.pid}-${crypto.randomUUID()}`
  const queueKeysChannel = `queueKeys-${instance}`
  const threads: Worker[] = []
  const callers: Caller[] = []
  let stopping = false
  let life = 0

  const start = async (index: number) => {
    const owner = `${instance}.${++life}.${index}`
    const { worker, caller } = openThread(options, index, owner, queueKeysChannel)
    threads[index] = worker
    callers[index] = caller
    worker.on('error', error => log.error({ err: error, thread: index }, 'a delivery thread died'))
    worker.on('exit', () => {
      if (!stopping) void restart(index, owner)
    })
    await notice(worker, 'ready')
  }
  /**
   * To all, since the thread at home in a domain passes its queue key to the one of its site: both must be
   * listening.
   */
  const announceDue = async () => {
    const order: DeliveryOrder = { order: 'queueKeys', queueKeys: await listDueQueueKeys(db) }
    for (const worker of threads) worker.postMessage(order)
  }
  const look = () => {
    announceDue().catch(error => log.warn({ err: error }, 'what is due could not be looked up'))
  }
  const restart = async (index: number, owner: string) => {
    for (let isVoid = false; !isVoid && !stopping; ) {
      await new Promise(resolve => setTimeout(resolve, RESTART_DELAY_MS))
      isVoid = await run('voidLeases', { owner, now: clock.now(), leaseMs, onUnknown }).then(
        () => true,
        error => {
          log.error({ err: error, thread: index }, 'a delivery thread cannot be restarted yet')
          return false
        },
      )
    }
    if (stopping) return
    await start(index).then(look, error => log.error({ err: error, thread: index }, 'a delivery thread died'))
  }

  await Promise.all(Array.from({ length: settings.threadCount }, (_, index) => start(index)))
  await announceDue()
  return {
    look,
    async pathsTo(sites) {
      const told = await Promise.all(callers.map(caller => pathsBy(caller, sites)))
      return new Map(told.flatMap(paths => [...paths]))
    },
    async stop(graceMs) {
      stopping = true
      await leases?.stop()
      await Promise.all(
        threads.map(async (worker, thread) => {
          const overdue = setTimeout(() => {
            log.error(
              { thread },
              'a delivery thread did not end and is cut off; its leases are void at the next start',
            )
            worker
              .terminate()
              .catch(error => log.error({ err: error, thread }, 'a delivery thread cannot be ended'))
          }, graceMs + TERMINATE_AFTER_MS)
          const ended = new Promise<number>(resolve => worker.once('exit', resolve))
          worker.postMessage({ order: 'stop', graceMs } satisfies DeliveryOrder)
          if ((await ended) === UNSTORED) process.exitCode = 1
          clearTimeout(overdue)
        }),
      )
    },
  }
}

/**
 * Of one process alone, all leases are of a former life, and void; of several, those are that have run out.
 */
async function seeToLeases({ run, clock, leases, log }: ThreadsOptions): Promise<LeaseWork | undefined> {
  const { leaseMs, isShared, onUnknown } = leases
  const become = onUnknown === 'hold' ? 'they are held until they are released' : 'they are due again'
  if (isShared)
    return startLeaseWatch({
      run,
      clock,
      leaseMs,
      onUnknown,
      onVoided: voided => log.warn({ voided }, `nobody has these deliveries under way any more; ${become}`),
      onError: error => log.warn({ err: error }, 'leases could not be looked at'),
    })
  const voided = await run('voidLeases', { owner: null, now: clock.now(), leaseMs, onUnknown })
  if (voided > 0) log.warn({ voided }, `deliveries were under way when the former process ended; ${become}`)
  return undefined
}

/** A thread that has just died knows of none. */
async function pathsBy(caller: Caller, sites: readonly string[]): ReturnType<PathsTo> {
  try {
    return (await caller.call('pathsTo', sites)) as Map<string, PathState[]>
  } catch (error) {
    if (error instanceof WorkerEnded) return new Map()
    throw error
  }
}

function openThread(options: ThreadsOptions, index: number, owner: string, queueKeysChannel: string) {
  const { entry, settings, location, secret, clockSeat, leases } = options
  const writer = options.connectWriter()
  const { port1, port2 } = new MessageChannel()
  const data: DeliveryThreadData = {
    ...settings,
    index,
    owner,
    leases,
    writer,
    calls: port2,
    location,
    secret,
    clockSeat,
    queueKeysChannel,
  }
  const worker = new Worker(entry, {
    name: 'delivery',
    workerData: data,
    transferList: [writer, port2],
    resourceLimits: BUSY_THREAD,
  })
  return { worker, caller: createCaller(port1) }
}

function notice(worker: Worker, wanted: DeliveryNotice['notice']): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.on('message', function hear(message: DeliveryNotice) {
      if (message.notice !== wanted) return
      worker.off('message', hear)
      worker.off('error', reject)
      resolve()
    })
  })
}
