/**
 * Pool of child processes that parse hostile or large input, one job at a time each, so that a crash can be
 * attributed to its job. Jobs are scheduled fairly between owners, small jobs first, and large jobs never
 * occupy all processes.
 */

import { type Clock, within } from './clock.ts'
import { FairQueue } from './fair-queue.ts'
import type { OnDemandWorker } from './on-demand-worker.ts'
import { ADD_PIECES, type PiecesBatch } from './serve-process.ts'
import { createWorkerProcess, type WorkerProcessOptions } from './worker-process.ts'
import { WorkerEnded } from './worker-rpc.ts'

export interface ReaderJob {
  /** Function of the process. */
  name: string
  /** Account that the job counts for when processes are shared. */
  owner: string
  /** Size of the input, which estimates the cost of the job. */
  sizeBytes: number
  /** Creates the input. Called when a process is ready for the job. */
  load(): Promise<unknown>
  /** Large part of the input, which the function takes with `takePieces` of `serve-process.ts`. */
  pieces?: readonly Uint8Array[]
}

export interface ReaderPool {
  /**
   * @throws JobTooLong; ProcessDied when the process died during the job; ProcessNotStarted when the system
   * cannot start one; WorkerEnded when the pool is closed; Error that `load` or the function threw
   */
  run(job: ReaderJob): Promise<unknown>
  close(): Promise<void>
}

/** The job exceeded its time limit, and its process was killed. */
export class JobTooLong extends Error {}

interface ReaderPoolOptions extends WorkerProcessOptions {
  clock: Clock
}

const PROCESS_COUNT = 2
/** Larger jobs leave one process free for small jobs. */
const SMALL_JOB_BYTES_MAX = 1024 * 1024
const JOB_MS_MAX = 20_000
const BATCH_BYTES_MIN = 1024 * 1024

interface Waiting extends ReaderJob {
  begin(process: OnDemandWorker): void
}

export function createReaderPool({ clock, ...options }: ReaderPoolOptions): ReaderPool {
  return new Pool(
    clock,
    Array.from({ length: PROCESS_COUNT }, () => createWorkerProcess(options)),
  )
}

class Pool implements ReaderPool {
  readonly #queue = new FairQueue<Waiting>()
  readonly #free: OnDemandWorker[]
  #largeRunning = 0
  #isClosed = false

  readonly #clock: Clock
  readonly #processes: readonly OnDemandWorker[]

  constructor(clock: Clock, processes: readonly OnDemandWorker[]) {
    this.#clock = clock
    this.#processes = processes
    this.#free = [...processes]
  }

  async run(job: ReaderJob): Promise<unknown> {
    if (this.#isClosed) throw new WorkerEnded()
    const process = await new Promise<OnDemandWorker>(begin => {
      this.#queue.add(job.owner, job.sizeBytes, { ...job, begin })
      this.#beginWaiting()
    })
    try {
      if (this.#isClosed) throw new WorkerEnded()
      await process.start()
      const input = await job.load()
      if (this.#isClosed) throw new WorkerEnded()
      return await this.#within(process, call(process, job, input))
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

  async #within(process: OnDemandWorker, answer: Promise<unknown>): Promise<unknown> {
    const result = await within(
      this.#clock,
      JOB_MS_MAX,
      answer.then(output => ({ output })),
    )
    if (result) return result.output
    void process.end()
    answer.catch(() => {}) // the call fails when its process ends
    throw new JobTooLong(`it took longer than ${JOB_MS_MAX / 1_000} s`)
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

/**
 * Pieces are sent one batch after the other, since a message between processes exists up to three times in
 * each of them. The call follows the last batch at once.
 */
async function call(process: OnDemandWorker, { name, pieces = [] }: ReaderJob, input: unknown) {
  let sent: Promise<unknown> | undefined
  for (const batch of batchesOf(pieces)) {
    await sent
    sent = process.call(ADD_PIECES, { isFirst: sent === undefined, pieces: batch } satisfies PiecesBatch)
  }
  const [output] = await Promise.all([process.call(name, input), sent])
  return output
}

function* batchesOf(pieces: readonly Uint8Array[]): Generator<Uint8Array[]> {
  let batch: Uint8Array[] = []
  let bytes = 0
  for (const piece of pieces) {
    batch.push(piece)
    bytes += piece.length
    if (bytes < BATCH_BYTES_MIN) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

function isLarge({ sizeBytes }: ReaderJob): boolean {
  return sizeBytes > SMALL_JOB_BYTES_MAX
}
