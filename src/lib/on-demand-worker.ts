/**
 * Worker thread that is started on demand and ends when it has been idle for a while. Its heap limit does not
 * protect the process: where the heap fills up inside a builtin, V8 aborts the whole process. Hostile input
 * is therefore given to a thread only if it is too small to fill the heap or is processed in pieces; see
 * `worker-process.ts`.
 */
import { MessageChannel, type MessagePort, type ResourceLimits } from 'node:worker_threads'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { BUSY_THREAD } from './thread-memory.ts'
import { RunningWorker } from './worker.ts'
import { type Caller, createCaller, WorkerEnded } from './worker-rpc.ts'

export interface OnDemandWorker {
  /**
   * @param memory buffers that move to the thread
   * @throws WorkerEnded; Error that the function threw in the thread
   */
  call(name: string, input: unknown, memory?: readonly ArrayBuffer[]): Promise<unknown>
  /** Terminates the thread. The next call starts another one. */
  end(): Promise<void>
  /** Terminates the thread. Further calls throw WorkerEnded. */
  close(): Promise<void>
}

interface OnDemandWorkerOptions {
  /** Name of the thread in the log and in the system's list of threads. */
  name: string
  /** Entry file of the thread, which serves calls on the port `calls` of its data. */
  entry: URL
  data?: Record<string, unknown>
  memory?: ResourceLimits
  /**
   * Limit of the old generation, in MiB. A thread that exceeds it usually dies alone; see the head of this
   * file.
   */
  heapMib?: number
  /** Whether the thread stays when it is idle, because starting it takes longer than its work. */
  staysWhenIdle?: boolean
  /** Counts the threads that died or were terminated because of their work. */
  metrics?: Metrics | undefined
  log: Log
}

/** Part of `workerData` that every entry file gets. */
export interface OnDemandWorkerData {
  calls: MessagePort
}

interface Running {
  worker: RunningWorker
  caller: Caller
}

/** Time after which an idle thread ends. Only its end returns the memory of a thread that has worked much. */
const IDLE_END_MS = 10_000

export function createOnDemandWorker(options: OnDemandWorkerOptions): OnDemandWorker {
  const {
    name,
    entry,
    data = {},
    memory: limits = BUSY_THREAD,
    heapMib,
    staysWhenIdle = false,
    metrics,
    log,
  } = options
  let running: Running | undefined
  let idle: NodeJS.Timeout | undefined
  let closed = false
  const lost = metrics?.counter(
    'threads_lost',
    'Threads that died of what they worked on, or were ended for it.',
    [{ thread: name }],
  )

  const start = (): Running => {
    const { port1, port2 } = new MessageChannel()
    const heap = heapMib !== undefined && { maxOldGenerationSizeMb: heapMib }
    const spec = {
      name,
      entry,
      data: { ...data, calls: port2 },
      transfer: [port2],
      limits: { ...limits, ...heap },
    }
    const worker = new RunningWorker(spec, error => {
      lost?.add({ thread: name })
      log.error({ event: 'worker_died', worker: name, err: error }, `The ${name} worker died`)
    })
    port1.on('close', () => {
      if (running?.worker === worker) running = undefined
    })
    return { worker, caller: createCaller(port1) }
  }
  const end = async () => {
    clearTimeout(idle)
    const ending = running
    running = undefined
    await ending?.worker.thread.terminate()
  }

  return {
    async call(called, input, memory = []) {
      if (closed) throw new WorkerEnded()
      clearTimeout(idle)
      running ??= start()
      const { caller } = running
      try {
        return await caller.call(called, input, memory)
      } finally {
        if (caller.pendingCount() === 0 && !staysWhenIdle) {
          clearTimeout(idle)
          idle = setTimeout(() => {
            if (running?.caller === caller && caller.pendingCount() === 0) void end()
          }, IDLE_END_MS)
          idle.unref()
        }
      }
    },
    end() {
      if (running) lost?.add({ thread: name })
      return end()
    },
    close() {
      closed = true
      return end()
    },
  }
}
