/**
 * Workers that start when they are needed and end after they have been idle for a while, because only its
 * end returns the memory of a worker. A worker is a thread (`createOnDemandWorker`) or a child process
 * (`worker-process.ts`).
 *
 * The heap limit of a thread does not protect the process: where the heap fills up inside a builtin, V8
 * aborts the whole process. Hostile input is therefore given to a thread only if it is too small to fill the
 * heap or is processed in pieces; other input is given to a child process.
 */
import { MessageChannel, type ResourceLimits } from 'node:worker_threads'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { BUSY_THREAD } from './thread-memory.ts'
import { RunningWorker } from './worker.ts'
import { type Caller, createCaller, WorkerEnded } from './worker-rpc.ts'

/** A thread or child process from its start to its end. */
export interface Running extends Pick<Caller, 'call'> {
  readonly hasEnded: boolean
  /** Resolves when calls are served. */
  untilReady(): Promise<void>
  /** Whether no call is in progress. */
  isIdle(): boolean
  /** Ends it at once. Its calls fail. */
  end(): Promise<unknown>
}

interface OnDemandOptions {
  open(): Running
  /** Time after which an idle worker ends, in ms; undefined if it stays. */
  idleEndMs: number | undefined
  /** Called when a worker is ended because of its work. */
  onLost(): void
}

export class OnDemandWorker {
  readonly #options: OnDemandOptions
  #running: Running | undefined
  /** Workers that are being ended, which takes until they are ready. */
  readonly #ending = new Set<Promise<unknown>>()
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: OnDemandOptions) {
    this.#options = options
  }

  /**
   * Starts the worker unless it runs, and waits until it serves calls.
   * @throws WorkerEnded when it was closed; ProcessNotStarted
   */
  start(): Promise<void> {
    return this.#use(running => running.untilReady())
  }

  /**
   * @param memory buffers that move to a thread
   * @throws WorkerEnded; ProcessNotStarted; ProcessDied; Error that the function threw
   */
  call(name: string, input: unknown, memory?: readonly ArrayBuffer[]): Promise<unknown> {
    return this.#use(running => running.call(name, input, memory))
  }

  /** Ends the worker because of its work. The next call starts another one. */
  async end(): Promise<void> {
    if (this.#running && !this.#running.hasEnded) this.#options.onLost()
    await this.#end()
  }

  /** Ends the worker, and waits for those that are ending. Further calls throw WorkerEnded. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end()
    await Promise.all(this.#ending)
  }

  async #use<T>(use: (running: Running) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new WorkerEnded()
    clearTimeout(this.#idle)
    if (!this.#running || this.#running.hasEnded) this.#running = this.#options.open()
    const used = this.#running
    try {
      return await use(used)
    } catch (error) {
      throw this.#isClosed ? new WorkerEnded() : error
    } finally {
      if (used === this.#running && used.isIdle()) this.#endLater(used)
    }
  }

  #endLater(used: Running) {
    const { idleEndMs } = this.#options
    if (idleEndMs === undefined) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      if (this.#running === used && used.isIdle()) void this.#end()
    }, idleEndMs)
    this.#idle.unref()
  }

  async #end() {
    clearTimeout(this.#idle)
    const ending = this.#running?.end()
    this.#running = undefined
    if (!ending) return
    this.#ending.add(ending)
    await ending.finally(() => this.#ending.delete(ending))
  }
}

interface OnDemandWorkerOptions {
  /** Name of the thread in the log and in the system's list of threads. */
  name: string
  /** Entry file of the thread, which calls `serveThread`. */
  entry: URL
  data?: Record<string, unknown>
  memory?: ResourceLimits
  /** Limit of the old generation, in MiB. A thread that exceeds it usually dies alone. */
  heapMib?: number
  /** Whether the thread stays when it is idle, because starting it takes longer than its work. */
  staysWhenIdle?: boolean
  /** Counts the threads that died or were terminated because of their work. */
  metrics?: Metrics | undefined
  log: Log
}

/** Time after which an idle thread ends. */
const IDLE_END_MS = 10_000

export function createOnDemandWorker(options: OnDemandWorkerOptions): OnDemandWorker {
  const { name, staysWhenIdle = false, metrics } = options
  const lost = metrics?.counter(
    'threads_lost',
    'Threads that died of what they worked on, or were ended for it.',
    [{ thread: name }],
  )
  const onLost = () => lost?.add({ thread: name })
  return new OnDemandWorker({
    open: () => new RunningThread(options, onLost),
    idleEndMs: staysWhenIdle ? undefined : IDLE_END_MS,
    onLost,
  })
}

class RunningThread implements Running {
  readonly #caller: Caller
  readonly #worker: RunningWorker
  hasEnded = false

  /** @param onDeath is called when the thread dies of an error */
  constructor(options: OnDemandWorkerOptions, onDeath: () => void) {
    const { name, entry, data = {}, memory = BUSY_THREAD, heapMib, log } = options
    const { port1, port2 } = new MessageChannel()
    const heap = heapMib !== undefined && { maxOldGenerationSizeMb: heapMib }
    const spec = {
      name,
      entry,
      data: { ...data, calls: port2 },
      transfer: [port2],
      limits: { ...memory, ...heap },
    }
    this.#worker = new RunningWorker(spec, error => {
      onDeath()
      log.error({ event: 'worker_died', worker: name, err: error }, `The ${name} worker died`)
    })
    this.#caller = createCaller(port1)
    port1.on('close', () => {
      this.hasEnded = true
    })
  }

  /** Calls wait in the port until the thread serves them. */
  async untilReady() {}

  call(name: string, input: unknown, memory?: readonly ArrayBuffer[]): Promise<unknown> {
    return this.#caller.call(name, input, memory)
  }

  isIdle(): boolean {
    return this.#caller.pendingCount() === 0
  }

  end(): Promise<unknown> {
    return this.#worker.terminate()
  }
}
