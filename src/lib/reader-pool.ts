/**
 * Pool of child processes that parse hostile or large input, one job at a time each, so that a crash can be
 * attributed to its job. Jobs are scheduled fairly between owners, small jobs first, and large jobs never
 * occupy all processes.
 */

import { type Clock, within } from './clock.ts'
import { FairQueue } from './fair-queue.ts'
import { createWorkerProcess, type WorkerProcess, type WorkerProcessOptions } from './worker-process.ts'
import { WorkerEnded } from './worker-rpc.ts'

export interface ReaderJob {
  /** Function of the process. */
  name: string
  /** Who shares the processes with whom: an account. */
  owner: string
  /** Size of the input: what the job is expected to cost. */
  sizeBytes: number
  /** Makes the input. Called when a process has started and is free for the job. */
  load(): Promise<unknown>
}

export interface ReaderPool {
  /**
   * @throws JobTooLong; ProcessDied when the process died of the job; ProcessNotStarted when the machine
   * cannot start one; ThreadEnded when the pool is closed; Error what `load` or the function threw
   */
  run(job: ReaderJob): Promise<unknown>
  close(): Promise<void>
}

/** The job took longer than a job may, and its process was killed. */
export class JobTooLong extends Error {}

interface ReaderPoolOptions extends WorkerProcessOptions {
  clock: Clock
}

const PROCESS_COUNT = 2
/** Larger jobs leave one process to the small ones. */
const SMALL_JOB_MAX_BYTES = 1024 * 1024
const JOB_MAX_MS = 20_000

interface Waiting extends ReaderJob {
  begin(process: WorkerProcess): void
}

export function createReaderPool({ clock, ...options }: ReaderPoolOptions): ReaderPool {
  return new Pool(
    clock,
    Array.from({ length: PROCESS_COUNT }, () => createWorkerProcess(options)),
  )
}

class Pool implements ReaderPool {
  readonly #queue = new FairQueue<Waiting>()
  readonly #free: WorkerProcess[]
  #largeRunning = 0
  #isClosed = false

  readonly #clock: Clock
  readonly #processes: readonly WorkerProcess[]

  constructor(clock: Clock, processes: readonly WorkerProcess[]) {
    this.#clock = clock
    this.#processes = processes
    this.#free = [...processes]
  }

  async run(job: ReaderJob): Promise<unknown> {
    if (this.#isClosed) throw new WorkerEnded()
    const process = await new Promise<WorkerProcess>(begin => {
      this.#queue.add(job.owner, job.sizeBytes, { ...job, begin })
      this.#beginWaiting()
    })
    try {
      if (this.#isClosed) throw new WorkerEnded()
      await process.start()
      const input = await job.load()
      if (this.#isClosed) throw new WorkerEnded()
      return await this.#within(process, process.call(job.name, input))
    } finally {
      if (isLarge(job)) this.#largeRunning -= 1
      this.#free.push(process)
      this.#beginWaiting()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#processes.map(process => process.close()))
  }

  async #within(process: WorkerProcess, answer: Promise<unknown>): Promise<unknown> {
    const result = await within(
      this.#clock,
      JOB_MAX_MS,
      answer.then(output => ({ output })),
    )
    if (result) return result.output
    process.kill()
    answer.catch(() => {}) // it ends with its process
    throw new JobTooLong(`it took longer than ${JOB_MAX_MS / 1_000} s`)
  }

  #beginWaiting() {
    while (this.#free.length > 0) {
      const next = this.#queue.take(job => !isLarge(job) || this.#largeRunning < PROCESS_COUNT - 1)
      if (!next) return
      if (isLarge(next)) this.#largeRunning += 1
      next.begin(this.#free.pop()!)
    }
  }
}

function isLarge({ sizeBytes }: ReaderJob): boolean {
  return sizeBytes > SMALL_JOB_MAX_BYTES
}
