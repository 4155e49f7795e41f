/** Large request bodies as the main thread sees them: little in memory at a time, worked on one by one on another thread. */
import { createFairSlots } from '../lib/fair-slots.ts'
import type { Log } from '../lib/log.ts'
import { createPassingThread } from '../lib/passing-thread.ts'
import { TooManyWaiting } from '../lib/semaphore.ts'
import type { HashFile } from '../store/blobs/stream.ts'
import type { StoreLocation } from '../store/dialect.ts'
import type { BodyOf, BodyWork } from './body-work.ts'
import { type BodyAnswer, type BodyJob, readAnswer } from './large-body-job.ts'
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

export function createLargeBodies({ entry, location, log }: LargeBodiesOptions): LargeBodies {
  const room = createFairSlots(MOST_BYTES, MOST_BYTES_OF_AN_OWNER, WAITING)
  const thread = createPassingThread({ name: 'bodies', entry, data: { location }, log })
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
      await thread.close()
    },
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
