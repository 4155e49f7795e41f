/**
 * Worker threads. `RunningWorker` is one thread from its start to its end; `SupervisedWorker` is a thread
 * that is restarted when it ends unexpectedly. A thread posts one message when it is ready to work, is
 * asked to stop by a message, and then ends by itself.
 *
 * Used by every part of the service that has threads; `on-demand-worker.ts` adds threads that end when
 * idle.
 */
import { type MessagePort, type ResourceLimits, Worker } from 'node:worker_threads'
import type { Clock, Timer } from './clock.ts'
import type { Log } from './log.ts'

interface WorkerSpec {
  /** Name of the thread in the log and in the system's list of threads. */
  name: string
  /** Source file of the thread. */
  entry: URL
  /** `workerData` of the thread. */
  data: object
  /** Ports in `data`, which move to the thread. */
  transfer?: readonly MessagePort[]
  limits: ResourceLimits
}

export class RunningWorker {
  readonly thread: Worker
  /**
   * Resolves with the first message of the thread. Rejects with the error that the thread died of before
   * that.
   */
  readonly ready: Promise<unknown>
  /** Resolves with the exit code. */
  readonly ended: Promise<number>

  /** @param onError is called when the thread dies of an error, at any time */
  constructor(
    { name, entry, data, transfer = [], limits }: WorkerSpec,
    onError: (error: Error, wasReady: boolean) => void,
  ) {
    this.thread = new Worker(entry, {
      name,
      workerData: data,
      transferList: [...transfer],
      resourceLimits: limits,
    })
    let wasReady = false
    this.ended = new Promise(resolve => this.thread.once('exit', resolve))
    this.ready = new Promise((resolve, reject) => {
      this.thread.once('message', message => {
        wasReady = true
        resolve(message)
      })
      this.thread.once('error', reject)
      void this.ended.then(code => reject(new Error(`the thread ${name} ended with code ${code}`)))
    })
    this.ready.catch(() => {}) // some callers do not wait for it
    this.thread.on('error', error => onError(error as Error, wasReady))
  }

  /**
   * Ends the thread at once, but not before it is ready: a thread that is terminated while it loads a native
   * module aborts the whole process.
   */
  async terminate(): Promise<void> {
    await this.ready.catch(() => {}) // it has ended already
    await this.thread.terminate()
  }

  /** Asks the thread to stop. @returns its exit code */
  stop(message: unknown): Promise<number> {
    this.thread.postMessage(message)
    return this.ended
  }
}

interface SupervisedWorkerOptions extends Omit<WorkerSpec, 'data' | 'transfer'> {
  /** Distinguishes threads of one name in the log. */
  index?: number
  /** Makes what the thread is given, anew for each start. */
  open(): Pick<WorkerSpec, 'data' | 'transfer'>
  /** Is called before each restart, and again later if it fails. */
  beforeRestart?(): Promise<void>
  onRestart?(): void
  clock: Pick<Clock, 'timer'>
  log: Pick<Log, 'error'>
}

const RESTART_DELAY_MS = 1_000

export class SupervisedWorker {
  readonly #options: SupervisedWorkerOptions
  readonly #fields: { worker: string; index?: number }
  /** Begins a log message, such as "The delivery 1 worker". */
  readonly #label: string
  #current: RunningWorker | undefined
  #wasStarted = false
  #restart: Timer | undefined
  #isStopping = false

  constructor(options: SupervisedWorkerOptions) {
    this.#options = options
    const { name, index } = options
    this.#fields = { worker: name, ...(index !== undefined && { index }) }
    this.#label = index === undefined ? `The ${name} worker` : `The ${name} ${index} worker`
  }

  /**
   * Starts the thread. Whenever it ends afterwards, even before it was ready, it is restarted until `stop` is
   * called. A thread that cannot be created, for example because the system has too many, is retried
   * likewise.
   *
   * @returns the first message of the thread
   * @throws Error that the thread died of before it was ready, or because of which it could not be created
   */
  async start(): Promise<unknown> {
    const { log } = this.#options
    this.#wasStarted = true
    let hasDied = false
    const running = this.#create((error, wasReady) => {
      hasDied = true
      if (wasReady) log.error({ event: 'worker_died', ...this.#fields, err: error }, `${this.#label} died`)
    })
    this.#current = running
    void running.ended.then(code => {
      if (this.#isStopping) return
      if (!hasDied)
        log.error(
          { event: 'worker_ended', ...this.#fields, err: new Error(`exit code ${code}`) },
          `${this.#label} ended unexpectedly`,
        )
      this.#restartLater()
    })
    return running.ready
  }

  /**
   * Starts the thread unless it was started or stopped, without waiting for it. A failure is logged, and the
   * thread is restarted.
   */
  startOnce(): void {
    if (this.#wasStarted || this.#isStopping) return
    this.start().catch(error =>
      this.#options.log.error(
        { event: 'worker_not_started', ...this.#fields, err: error },
        `${this.#label} did not start; it is started again`,
      ),
    )
  }

  /** Sends a message, which is lost if the thread has died. */
  post(message: unknown) {
    this.#current?.thread.postMessage(message)
  }

  /**
   * Asks the thread to stop and waits for its end.
   *
   * @param terminateAfterMs time after which the thread is terminated; without it, the thread may take its
   * time
   * @returns the exit code
   */
  async stop(message: unknown = 'stop', terminateAfterMs?: number): Promise<number> {
    this.#isStopping = true
    this.#restart?.cancel()
    if (!this.#current) return 0
    const current = this.#current
    const overdue =
      terminateAfterMs === undefined
        ? undefined
        : setTimeout(() => {
            this.#options.log.error(
              {
                event: 'worker_terminated',
                ...this.#fields,
                err: new Error(`it did not stop within ${terminateAfterMs} ms`),
              },
              `${this.#label} did not stop in time and is terminated`,
            )
            void current.terminate()
          }, terminateAfterMs)
    const code = await current.stop(message)
    clearTimeout(overdue)
    return code
  }

  #create(onError: (error: Error, wasReady: boolean) => void): RunningWorker {
    const { name, entry, limits, open } = this.#options
    try {
      return new RunningWorker({ name, entry, limits, ...open() }, onError)
    } catch (error) {
      if (!this.#isStopping) this.#restartLater()
      throw error
    }
  }

  #restartLater() {
    this.#restart = this.#options.clock.timer(RESTART_DELAY_MS, () => void this.#restartNow())
  }

  async #restartNow() {
    const { beforeRestart, onRestart, log } = this.#options
    const failed = (error: unknown) =>
      log.error(
        { event: 'worker_restart_failed', ...this.#fields, err: error },
        `${this.#label} could not be restarted; retrying in ${RESTART_DELAY_MS} ms`,
      )
    try {
      await beforeRestart?.()
    } catch (error) {
      failed(error)
      if (!this.#isStopping) this.#restartLater()
      return
    }
    if (this.#isStopping) return
    await this.start().then(onRestart, failed)
  }
}
