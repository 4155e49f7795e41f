/** Large request bodies as the main thread sees them: few in memory at a time, parsed one by one on another thread. */
import { Worker } from 'node:worker_threads'
import { createFairSlots } from '../lib/fair-slots.ts'
import type { BodyAnswer, BodyJob } from './body-job.ts'
import { Refused } from './refused.ts'

export interface ParsedBody {
  value: unknown
  /** SHA-256 of its canonical form, where it was asked for. */
  hash: Uint8Array | null
}

export interface LargeBodies {
  /** Resolves when there is room for one more, with what gives the room back. */
  enter(owner: string): Promise<() => void>
  /** The bytes are not to be used any more. @throws Refused 400 */
  parse(bytes: Buffer, hashed: boolean): Promise<ParsedBody>
  close(): Promise<void>
}

const IN_MEMORY = 6
const IN_MEMORY_OF_AN_OWNER = 2

/** @param entry file of the thread; it is started when the first large body comes */
export function createLargeBodies(entry: URL): LargeBodies {
  const room = createFairSlots(IN_MEMORY, IN_MEMORY_OF_AN_OWNER)
  let thread: Worker | undefined
  let turn: Promise<unknown> = Promise.resolve()

  const start = () => {
    const fresh = new Worker(entry)
    fresh.once('exit', () => {
      if (thread === fresh) thread = undefined
    })
    return fresh
  }

  return {
    enter: room.take,
    parse(bytes, hashed) {
      const done = turn.then(async () => {
        thread ??= start()
        const answer = await ask(thread, { bytes: ownBytes(bytes), hashed })
        if ('refused' in answer) throw new Refused(400, 'validation_error', answer.refused)
        return answer
      })
      turn = done.catch(() => {})
      return done
    },
    async close() {
      await turn
      await thread?.terminate()
    },
  }
}

function ask(thread: Worker, job: BodyJob): Promise<BodyAnswer> {
  return new Promise((resolve, reject) => {
    const onExit = () => settle(() => reject(new Error('the thread that parses bodies ended')))
    const onError = (error: Error) => settle(() => reject(error))
    const onMessage = (answer: BodyAnswer) => settle(() => resolve(answer))
    const settle = (end: () => void) => {
      thread.off('exit', onExit).off('error', onError).off('message', onMessage)
      end()
    }
    thread.on('exit', onExit).on('error', onError).on('message', onMessage)
    thread.postMessage(job, [job.bytes.buffer])
  })
}

/** Bytes that share their memory with nothing else, so that they can be handed over. */
function ownBytes(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength
    ? (bytes as Uint8Array as Uint8Array<ArrayBuffer>)
    : new Uint8Array(bytes)
}
