/**
 * Main-thread side of the query worker, which answers expensive queries (lists, exports, metrics). Its thread
 * starts with the first call, because it takes 80 ms of CPU time and memory that a service may never need.
 *
 * In: calls of `reader`, from the routes of the API. Out: their results. Created by `app.ts`.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { ClockSeat } from '../lib/adjustable-clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import { TooManyWaiting } from '../lib/semaphore.ts'
import { QUIET_THREAD } from '../lib/thread-memory.ts'
import { SupervisedWorker } from '../lib/worker.ts'
import { type Caller, createCaller, WorkerEnded } from '../lib/worker-rpc.ts'
import { StorageUnavailable } from '../store/model/command.ts'
import type { StoreLocation } from '../store/opening/dialect.ts'
import type { ReadingFunctions, ReadingThreadData } from '../workers/query.ts'

interface QueryWorker {
  /**
   * Functions of the worker. They throw TooManyWaiting when more than `WAITING_MAX` calls wait, and
   * WorkerEnded until a worker that died has been restarted.
   */
  reader: ReadingFunctions
  /** Starts the thread unless it was started. */
  start(): void
  stop(): Promise<void>
}

interface QueryWorkerOptions {
  entry: URL
  location: StoreLocation
  connectWriter(): MessagePort
  secret: Uint8Array
  clock: Clock
  /** Handle of the test clock for the worker; null with the system clock. */
  clockSeat: ClockSeat | null
  logLevel: LogLevel
  log: Log
}

const WAITING_MAX = 200

export function createQueryWorker(options: QueryWorkerOptions): QueryWorker {
  const { entry, clock, log } = options
  let caller: Caller | undefined
  const worker = new SupervisedWorker({
    name: 'query',
    entry,
    limits: QUIET_THREAD,
    open() {
      const { data, calls } = threadData(options)
      caller = createCaller(calls)
      return { data, transfer: [data.writer, data.calls] }
    },
    clock,
    log,
  })
  const ask = <K extends keyof ReadingFunctions>(name: K): ReadingFunctions[K] => {
    const call = async (input: unknown) => {
      worker.startOnce()
      if (!caller) throw new WorkerEnded('the query worker has stopped')
      if (caller.pendingCount() >= WAITING_MAX)
        throw new TooManyWaiting(`more than ${WAITING_MAX} questions wait for the query worker`)
      return caller.call(name, input).catch(asThrown)
    }
    return call as ReadingFunctions[K]
  }

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
      forecastRecipients: ask('forecastRecipients'),
      countByProvider: ask('countByProvider'),
      countMembers: ask('countMembers'),
      exportContacts: ask('exportContacts'),
      listRequests: ask('listRequests'),
    },
    start: () => worker.startOnce(),
    async stop() {
      await worker.stop()
    },
  }
}

/** Errors come from the thread with their names alone. */
function asThrown(error: Error): never {
  throw error.name === 'StorageUnavailable' ? new StorageUnavailable(error.message, { cause: error }) : error
}

function threadData({ location, connectWriter, secret, clockSeat, logLevel }: QueryWorkerOptions) {
  const { port1, port2 } = new MessageChannel()
  const data: ReadingThreadData = {
    location,
    writer: connectWriter(),
    calls: port2,
    secret,
    clockSeat,
    logLevel,
  }
  return { data, calls: port1 }
}
