/**
 * Runs functions in a child process that starts on demand and ends after it has been idle for a while.
 *
 * Memory limits of a worker thread do not protect the process: when the heap fills up inside a builtin, V8
 * aborts the whole process. Hostile input is therefore parsed in a child process, whose end is an error of
 * the call that it worked on. Called by `reader-pool.ts`; `serve-process.ts` is the child's side.
 */
import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { type CallChannel, type Caller, createCaller, WorkerEnded } from './worker-rpc.ts'

export interface WorkerProcess {
  /**
   * Starts the process unless it runs, and waits until it serves calls.
   *
   * @throws ProcessNotStarted when the process could not start; WorkerEnded when it was closed
   */
  start(): Promise<void>
  /**
   * @throws ProcessNotStarted when the process could not start; ProcessDied when it ended before it answered;
   * WorkerEnded when it was closed; Error that the function threw
   */
  call(name: string, input: unknown): Promise<unknown>
  /** Kills the process; the next call starts another. */
  kill(): void
  /** Kills the process for good: further calls throw WorkerEnded. Resolves when it is gone. */
  close(): Promise<void>
}

/** The system cannot start the process now. The call was not started and may be repeated later. */
export class ProcessNotStarted extends Error {}

/** The process ended while it worked on the call, probably because of the input. */
export class ProcessDied extends Error {}

export interface WorkerProcessOptions {
  /** Name in the log, in metrics and in the system's list of processes. */
  name: string
  /** Source file of the process, which passes its functions to `serveProcess()`. */
  entry: URL
  /** First message to the process. */
  data: unknown
  /** Limit of the JavaScript heap. Buffers are not counted; the caller bounds the size of inputs. */
  heapMib: number
  metrics?: Metrics | undefined
  log: Log
}

/** Time after which an idle process ends. It keeps the memory of its work until its end. */
const IDLE_END_MS = 30_000
const YOUNG_GENERATION_MIB = 16
/** Number of last bytes of standard error that are kept, since they name the reason of a crash. */
const STDERR_KEPT_BYTES = 2_000
/**
 * Environment variables that the child inherits. It needs none of the secrets in the service's environment.
 */
const INHERITED = /^(?:NODE_COMPILE_CACHE|MALLOC_ARENA_MAX|TZ|LANG|LC_\w+|PG\w+|PATH)$/

export function createWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  const { name, metrics, log } = options
  const lost = metrics?.counter(
    'reader_processes_lost',
    'Child processes that died of what they worked on, or were killed for it.',
    [{ process: name }],
  )
  let running: RunningProcess | undefined
  /** Processes that were ended on purpose. */
  const killed = new WeakSet<RunningProcess>()
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  const start = () => {
    const started = new RunningProcess(options)
    started.ended.then(({ code, signal, error, stderr }) => {
      if (killed.has(started)) return
      if (running === started) running = undefined
      lost?.add({ process: name })
      log.error(
        { event: 'reader_process_ended', process: name, code, signal, stderr, err: error },
        `The process ${name} ended unexpectedly; it is started again when it is needed`,
      )
    })
    return started
  }
  const kill = () => {
    clearTimeout(idle)
    if (!running) return
    killed.add(running)
    running.kill()
    running = undefined
  }
  const endWhenIdle = (used: RunningProcess) => {
    clearTimeout(idle)
    idle = setTimeout(() => {
      if (running === used && used.isIdle()) kill()
    }, IDLE_END_MS)
    idle.unref()
  }

  const onRunning = async <T>(use: (used: RunningProcess) => Promise<T>): Promise<T> => {
    if (isClosed) throw new WorkerEnded()
    clearTimeout(idle)
    if (!running || running.hasEnded) running = start()
    const used = running
    try {
      return await use(used)
    } catch (error) {
      if (isClosed) throw new WorkerEnded()
      throw error
    } finally {
      if (used.isIdle()) endWhenIdle(used)
    }
  }

  return {
    start: () => onRunning(used => used.untilReady()),
    call: (called, input) => onRunning(used => used.call(called, input)),
    kill() {
      if (running) lost?.add({ process: name })
      kill()
    },
    async close() {
      isClosed = true
      const ended = running?.ended
      kill()
      await ended
    },
  }
}

interface End {
  code: number | null
  signal: string | null
  error?: Error
  stderr: string
}

/** One child process, from its start to its end. */
class RunningProcess {
  readonly ended: Promise<End>
  readonly #name: string
  readonly #child: ChildProcess
  readonly #caller: Caller
  hasEnded = false
  /** Resolves with whether the process serves calls. */
  readonly #isReady: Promise<boolean>
  #callCount = 0

  constructor({ name, entry, data, heapMib }: WorkerProcessOptions) {
    this.#name = name
    this.#child = fork(fileURLToPath(entry), [], {
      serialization: 'advanced',
      env: Object.fromEntries(Object.entries(process.env).filter(([key]) => INHERITED.test(key))),
      execArgv: [
        ...process.execArgv.filter(arg => arg.startsWith('--import=')),
        `--max-old-space-size=${heapMib}`,
        `--max-semi-space-size=${YOUNG_GENERATION_MIB}`,
        `--title=mailhorn: ${name}`,
      ],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const child = this.#child
    let stderr = ''
    // The streams and the channel are missing when the system has no file descriptors left; 'error' follows
    // then.
    child.stderr?.on('data', chunk => {
      stderr = (stderr + chunk).slice(-STDERR_KEPT_BYTES)
    })
    this.ended = new Promise(resolve => {
      const end = (end: Omit<End, 'stderr'>) => {
        this.hasEnded = true
        resolve({ ...end, stderr })
      }
      child.once('exit', (code, signal) => end({ code, signal }))
      child.on('error', error => end({ code: null, signal: null, error }))
    })
    this.#isReady = Promise.race([
      new Promise<boolean>(resolve => child.once('message', () => resolve(true))),
      this.ended.then(() => false),
    ])
    this.#caller = createCaller(channelOf(child))
    send(child, data)
  }

  isIdle(): boolean {
    return this.#callCount === 0
  }

  /** @throws ProcessNotStarted */
  untilReady(): Promise<void> {
    return this.#keptAlive(async () => {
      if (!(await this.#isReady))
        throw new ProcessNotStarted(`the process ${this.#name} could not be started`)
    })
  }

  /** @throws ProcessNotStarted; ProcessDied; Error what the function there threw */
  call(called: string, input: unknown): Promise<unknown> {
    return this.#keptAlive(async () => {
      await this.untilReady()
      try {
        return await this.#caller.call(called, input)
      } catch (error) {
        throw error instanceof WorkerEnded ? new ProcessDied(`the process ${this.#name} ended`) : error
      }
    })
  }

  /** Keeps the service from ending while a caller waits for the process. */
  async #keptAlive<T>(use: () => Promise<T>): Promise<T> {
    this.#callCount += 1
    this.#keepServiceAlive(true)
    try {
      return await use()
    } finally {
      this.#callCount -= 1
      if (this.isIdle()) this.#keepServiceAlive(false)
    }
  }

  kill() {
    this.#child.ref() // `ended` must resolve even if nothing else keeps the service alive
    this.#child.kill('SIGKILL')
  }

  /** An idle process does not keep the service from ending. */
  #keepServiceAlive(wanted: boolean) {
    const change = wanted ? 'ref' : 'unref'
    this.#child[change]()
    this.#child.channel?.[change]()
    ;(this.#child.stderr as Socket | null)?.[change]()
  }
}

/** Sends a message. If it cannot be sent, the process has ended, and its calls fail. */
function send(child: ChildProcess, message: unknown) {
  child.send?.(message as object, () => {})
}

function channelOf(child: ChildProcess): CallChannel {
  return {
    on(event, listener) {
      if (event === 'close') child.on('exit', listener).on('error', listener)
      else child.on('message', message => isReadiness(message) || listener(message))
    },
    postMessage: message => send(child, message),
  }
}

/** Whether this is the first message of a process, which says that the process serves calls. */
function isReadiness(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'ready' in message
}
