/** What the body thread is asked, and how its answers travel. */
import type { Preparation } from '../accept/prepare.ts'
import { travellingMemory } from '../accept/travelling-memory.ts'
import { Moved } from '../lib/calls.ts'
import type { PassingThreadData } from '../lib/passing-thread.ts'
import { StorageUnavailable } from '../store/command.ts'
import type { StoreLocation } from '../store/dialect.ts'
import { type BodyWork, doBodyWork, type SendBody } from './body-work.ts'
import { parseLargeJson } from './json-body.ts'
import { Refused } from './refused.ts'

export interface BodyThreadData extends PassingThreadData {
  location: StoreLocation
}

export interface BodyJob {
  /** One after another. */
  pieces: Uint8Array<ArrayBuffer>[]
  work: BodyWork
}

/** Exceptions that mean something travel as values. */
export type BodyAnswer =
  | { body: unknown }
  | { refused: Pick<Refused, 'status' | 'errorName' | 'message' | 'errors'> }
  | { unavailable: string }

export async function doBodyJob(
  { pieces, work }: BodyJob,
  preparation: Preparation,
): Promise<Moved<BodyAnswer>> {
  try {
    const body = await doBodyWork(parseLargeJson(joined(pieces)), work, preparation)
    return new Moved<BodyAnswer>({ body }, work === null ? [] : memoryOf(body as SendBody))
  } catch (error) {
    return new Moved(answerOf(error), [])
  }
}

/** @throws Refused @throws StorageUnavailable */
export function readAnswer(answer: BodyAnswer): unknown {
  if ('body' in answer) return answer.body
  if ('unavailable' in answer) throw new StorageUnavailable(answer.unavailable)
  const { status, errorName, message, errors } = answer.refused
  throw new Refused(status, errorName, message, { errors })
}

/** Takes the pieces away, so that their memory is free once they are joined. */
function joined(pieces: Uint8Array<ArrayBuffer>[]): Buffer {
  return Buffer.concat(pieces.splice(0))
}

function answerOf(error: unknown): BodyAnswer {
  if (error instanceof StorageUnavailable) return { unavailable: error.message }
  if (!(error instanceof Refused)) throw error
  const { status, errorName, message, errors } = error
  return { refused: { status, errorName, message, errors } }
}

function memoryOf({ prepared: { emails, blobs } }: SendBody): ArrayBuffer[] {
  return travellingMemory(
    emails.map(({ email }) => email.content),
    blobs,
  )
}
