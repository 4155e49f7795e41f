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
import { OnDemandWorker, type Running } from './on-demand-worker.ts'
import { IS_READY } from './serve-process.ts'
import { HALF_MIB } from './thread-memory.ts'
import { type CallChannel, type Caller, createCaller, WorkerEnded } from './worker-rpc.ts'

/** The system cannot start the process now. The call was not started and may be repeated later. */
export class ProcessNotStarted extends Error {}

/** The process ended while it worked on the call, probably because of the input. */
export class ProcessDied extends Error {}

/** The process was killed from outside, as by the kernel when memory ran out. The call may succeed later. */
export class ProcessKilled extends ProcessDied {}

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

/** Time after which an idle process ends. */
const IDLE_END_MS = 30_000
/** Number of last bytes of standard error that are kept, since they name the reason of a crash. */
const STDERR_KEPT_BYTES = 2_000
/**
 * Environment variables that the child inherits. It needs none of the secrets in the service's environment.
 */
const INHERITED =
  /^(?:NODE_COMPILE_CACHE|NODE_EXTRA_CA_CERTS|MALLOC_ARENA_MAX|MALLOC_MMAP_THRESHOLD_|TZ|LANG|LC_\w+|PG\w+|PATH)$/

export function createWorkerProcess(options: WorkerProcessOptions): OnDemandWorker {
  const { name, metrics, log } = options
  const lost = metrics?.counter(
    'reader_processes_lost',
    'Child processes that died of what they worked on, or were killed for it.',
    [{ process: name }],
  )
  const onLost = () => lost?.add({ process: name })
  const onUnexpectedEnd = ({ code, signal, error, stderr }: End) => {
    onLost()
    log.error(
      { event: 'reader_process_ended', process: name, code, signal, stderr, err: error },
      `The process ${name} ended unexpectedly; it is started again when it is needed`,
    )
  }
  return new OnDemandWorker({
    open: () => new RunningProcess(options, onUnexpectedEnd),
    idleEndMs: IDLE_END_MS,
    onLost,
  })
}

interface End {
  code: number | null
  signal: string | null
  error?: Error
  stderr: string
}

/** One child process, from its start to its end. */
class RunningProcess implements Running {
  readonly #ended: Promise<End>
  readonly #name: string
  readonly #child: ChildProcess
  readonly #caller: Caller
  hasEnded = false
  #wasKilled = false
  /** Resolves with whether the process serves calls. */
  readonly #isReady: Promise<boolean>
  #callCount = 0

  /** @param onUnexpectedEnd is called when the process ends without `end` */
  constructor({ name, entry, data, heapMib }: WorkerProcessOptions, onUnexpectedEnd: (end: End) => void) {
    this.#name = name
    this.#child = fork(fileURLToPath(entry), [], {
      serialization: 'advanced',
      env: { ...inheritedVariables(), NODE_OPTIONS: nodeOptions(name, heapMib) },
      execArgv: process.execArgv.filter(arg => arg.startsWith('--import=')),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const child = this.#child
    let stderr = ''
    // The streams and the channel are missing when the system has no file descriptors left; 'error' follows
    // then.
    child.stderr?.on('data', chunk => {
      stderr = (stderr + chunk).slice(-STDERR_KEPT_BYTES)
    })
    this.#ended = new Promise(resolve => {
      const end = (end: Omit<End, 'stderr'>) => {
        this.hasEnded = true
        resolve({ ...end, stderr })
      }
      child.once('exit', (code, signal) => end({ code, signal }))
      child.on('error', error => end({ code: null, signal: null, error }))
    })
    void this.#ended.then(end => this.#wasKilled || onUnexpectedEnd(end))
    this.#caller = createCaller(channelOf(child))
    send(child, data)
    this.#isReady = this.#caller.call(IS_READY, null).then(
      () => true,
      () => false,
    )
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

  /** @throws ProcessNotStarted; ProcessKilled; ProcessDied; Error what the function there threw */
  call(called: string, input: unknown): Promise<unknown> {
    return this.#keptAlive(async () => {
      await this.untilReady()
      try {
        return await this.#caller.call(called, input)
      } catch (error) {
        throw error instanceof WorkerEnded ? await this.#deathOf() : error
      }
    })
  }

  /** A process that fills its heap aborts; it is not killed. */
  async #deathOf(): Promise<ProcessDied> {
    const { signal } = await this.#ended
    const isKilled = signal === 'SIGKILL' && !this.#wasKilled
    const Death = isKilled ? ProcessKilled : ProcessDied
    return new Death(`the process ${this.#name} ${isKilled ? 'was killed' : 'ended'}`)
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

  /** Kills the process. Resolves when it is gone. */
  end(): Promise<unknown> {
    this.#wasKilled = true
    this.#child.ref() // the promise must resolve even if nothing else keeps the service alive
    this.#child.kill('SIGKILL')
    return this.#ended
  }

  /** An idle process does not keep the service from ending. */
  #keepServiceAlive(wanted: boolean) {
    const change = wanted ? 'ref' : 'unref'
    this.#child[change]()
    this.#child.channel?.[change]()
    ;(this.#child.stderr as Socket | null)?.[change]()
  }
}

function inheritedVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => INHERITED.test(key)))
}

/**
 * Returns options of the child for its environment: the single executable takes arguments as those of its
 * commands.
 */
function nodeOptions(name: string, heapMib: number): string {
  return [
    `--max-old-space-size=${heapMib}`,
    `--max-semi-space-size=${HALF_MIB}`,
    `"--title=mailhorn: ${name}"`,
  ].join(' ')
}

/** Sends a message. If it cannot be sent, the process has ended, and its calls fail. */
function send(child: ChildProcess, message: unknown) {
  child.send?.(message as object, () => {})
}

function channelOf(child: ChildProcess): CallChannel {
  return {
    on(event, listener) {
      if (event === 'close') child.on('exit', listener).on('error', listener)
      else child.on('message', listener)
    },
    postMessage: message => send(child, message),
  }
}
