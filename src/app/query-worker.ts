/** The reading thread as the main thread sees it: started, asked, started again when it dies, stopped. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { ClockSeat } from '../lib/adjustable-clock.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import { TooManyWaiting } from '../lib/semaphore.ts'
import { QUIET_THREAD } from '../lib/thread-memory.ts'
import { type Caller, createCaller } from '../lib/worker-rpc.ts'
import { StorageUnavailable } from '../store/command.ts'
import type { StoreLocation } from '../store/dialect.ts'
import type { ReadingFunctions, ReadingThreadData } from '../workers/query.ts'

export interface QueryWorker {
  /**
   * Its functions throw TooManyWaiting when more has been asked than can be answered soon, and ThreadEnded
   * until a thread that died has been started again.
   */
  reader: ReadingFunctions
  stop(): Promise<void>
}

interface ReadingOptions {
  entry: URL
  location: StoreLocation
  connectWriter(): MessagePort
  secret: Uint8Array
  clock: Clock
  /** Of the same clock. */
  clockSeat: ClockSeat | null
  logLevel: LogLevel
  log: Log
}

const WAITING_MAX = 200
const RESTART_AFTER_MS = 1_000

export function startQueryWorker(options: ReadingOptions): QueryWorker {
  const { log, clock } = options
  let current: { worker: Worker; caller: Caller }
  let restart: Timer | undefined
  let isStopping = false
  let ended = Promise.resolve()

  const start = () => {
    current = openThread(options)
    const { worker } = current
    worker.on('error', error => log.error({ err: error }, 'the reading thread died'))
    ended = new Promise(resolve =>
      worker.on('exit', () => {
        resolve()
        if (!isStopping) restart = clock.timer(RESTART_AFTER_MS, start)
      }),
    )
  }
  const ask = <K extends keyof ReadingFunctions>(name: K): ReadingFunctions[K] => {
    const asked = async (input: unknown) => {
      if (current.caller.pendingCount() >= WAITING_MAX)
        throw new TooManyWaiting(`more than ${WAITING_MAX} questions wait for the reading thread`)
      return current.caller.call(name, input).catch(asThrown)
    }
    return asked as ReadingFunctions[K]
  }

  start()
  return {
    reader: {
      listEmails: ask('listEmails'),
      exportEmails: ask('exportEmails'),
      rebuildMessage: ask('rebuildMessage'),
      reportMetrics: ask('reportMetrics'),
      reportDestinations: ask('reportDestinations'),
      viewQueue: ask('viewQueue'),
      listContacts: ask('listContacts'),
      listAccountContacts: ask('listAccountContacts'),
      listRecipients: ask('listRecipients'),
      countMembers: ask('countMembers'),
      exportContacts: ask('exportContacts'),
    },
    async stop() {
      isStopping = true
      restart?.cancel()
      current.worker.postMessage('stop')
      await ended
    },
  }
}

/** Errors come from the thread with their names alone. */
function asThrown(error: Error): never {
  throw error.name === 'StorageUnavailable' ? new StorageUnavailable(error.message, { cause: error }) : error
}

function openThread({ entry, location, connectWriter, secret, clockSeat, logLevel }: ReadingOptions) {
  const writer = connectWriter()
  const { port1, port2 } = new MessageChannel()
  const data: ReadingThreadData = { location, writer, calls: port2, secret, clockSeat, logLevel }
  const worker = new Worker(entry, {
    name: 'reading',
    workerData: data,
    transferList: [writer, port2],
    resourceLimits: QUIET_THREAD,
  })
  return { worker, caller: createCaller(port1) }
}
