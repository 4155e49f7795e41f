/** Large request bodies as the main thread sees them: little in memory at a time, worked on one by one on another thread. */
import { MessageChannel, type Transferable, Worker } from 'node:worker_threads'
import { type Caller, createCaller } from '../lib/calls.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import type { Log } from '../lib/log.ts'
import { TooManyWaiting } from '../lib/semaphore.ts'
import type { HashFile } from '../store/blob-stream.ts'
import type { StoreLocation } from '../store/dialect.ts'
import type { BodyOf, BodyWork } from './body-work.ts'
import { type BodyAnswer, type BodyJob, type BodyThreadData, readAnswer } from './large-body-job.ts'
import { Refused } from './refused.ts'

export interface LargeBodies {
  /** Resolves when there is room for so many bytes, with what gives the room back. @throws Refused 503 */
  enter(owner: string, bytes: number): Promise<() => void>
  /** The memory of the pieces is not to be used any more. @throws Refused @throws StorageUnavailable */
  read<W extends BodyWork>(pieces: Uint8Array<ArrayBuffer>[], work: W): Promise<BodyOf<W>>
  hashFile: HashFile
  close(): Promise<void>
}

interface LargeBodiesOptions {
  /** File of the thread; it is started when there is work for it, and ends when there has been none for a while. */
  entry: URL
  location: StoreLocation
  log: Log
}

/** Four of the largest bodies at once, two of them of one owner; the smaller they are, the more. */
const MOST_BYTES = 224 * 1024 * 1024
const MOST_BYTES_OF_AN_OWNER = 112 * 1024 * 1024
const WAITING = { most: 200, mostOfAnOwner: 50 }
const RETRY_AFTER_SECONDS = 5
/** The memory of a thread that has done much is only given back by its end. */
const ENDS_AFTER_MS = 10_000

export function createLargeBodies(options: LargeBodiesOptions): LargeBodies {
  const room = createFairSlots(MOST_BYTES, MOST_BYTES_OF_AN_OWNER, WAITING)
  const thread = createThread(options)
  let turn: Promise<unknown> = Promise.resolve()

  return {
    async enter(owner, bytes) {
      try {
        return await room.take(owner, bytes)
      } catch (error) {
        if (error instanceof TooManyWaiting) throw tooMuch()
        throw error
      }
    },
    async read<W extends BodyWork>(pieces: Uint8Array<ArrayBuffer>[], work: W) {
      const memory = pieces.map(({ buffer }) => buffer)
      const job: BodyJob = { pieces, work }
      const done = turn.then(() => thread.call('read', job, memory))
      turn = done.catch(() => {}) // its own request tells of it
      return readAnswer((await done) as BodyAnswer) as BodyOf<W>
    },
    hashFile: async path => (await thread.call('hashFile', path)) as Uint8Array,
    async close() {
      await turn
      await thread.end()
    },
  }
}

interface Running {
  worker: Worker
  caller: Caller
}

function createThread({ entry, location, log }: LargeBodiesOptions) {
  let running: Running | undefined
  let idle: NodeJS.Timeout | undefined

  const start = (): Running => {
    const { port1, port2 } = new MessageChannel()
    const data: BodyThreadData = { location, calls: port2 }
    const worker = new Worker(entry, { name: 'bodies', workerData: data, transferList: [port2] })
    worker.on('error', error => log.error({ err: error }, 'the body thread died'))
    port1.on('close', () => {
      if (running?.worker === worker) running = undefined
    })
    return { worker, caller: createCaller(port1) }
  }
  const end = async () => {
    clearTimeout(idle)
    const ending = running
    running = undefined
    await ending?.worker.terminate()
  }

  return {
    async call(name: string, input: unknown, memory: readonly ArrayBuffer[] = []) {
      clearTimeout(idle)
      running ??= start()
      const { caller } = running
      try {
        return await caller.call(name, input, memory as readonly (ArrayBuffer & Transferable)[])
      } finally {
        if (caller.pendingCount() === 0) {
          clearTimeout(idle)
          idle = setTimeout(() => {
            if (running?.caller === caller && caller.pendingCount() === 0) void end()
          }, ENDS_AFTER_MS)
          idle.unref()
        }
      }
    },
    end,
  }
}

function tooMuch(): Refused {
  return new Refused(
    503,
    'application_error',
    'Too many large requests are being read; try again in a few seconds.',
    { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
  )
}
