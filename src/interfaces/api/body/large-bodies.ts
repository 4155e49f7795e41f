/** Limits the memory of large request bodies and has them parsed in a child process. */
import { type MemoryBudget, RETRY_AFTER_SECONDS, type Reservation } from '../../../lib/memory-budget.ts'
import { JobTooLong, type ReaderPool } from '../../../lib/reader-pool.ts'
import { TooManyWaiting } from '../../../lib/semaphore.ts'
import { ProcessDied, ProcessKilled, ProcessNotStarted } from '../../../lib/worker-process.ts'
import { ApiError } from '../api-error.ts'
import type { BodyOf, BodyWork } from '../route/route.ts'
import { type BodyAnswer, type BodyJob, readAnswer } from './large-body-job.ts'

export interface LargeBodies {
  /** Size of the largest body that the memory of this machine allows. */
  bytesMax: number
  /**
   * Reserves memory for a body.
   * @throws ApiError 503
   */
  enter(owner: string, bytes: number): Promise<Reservation>
  /** @throws ApiError @throws StorageUnavailable */
  read<W extends BodyWork>(owner: string, pieces: readonly Uint8Array[], work: W): Promise<BodyOf<W>>
}

/** Name of the function of the child process that parses bodies. */
export const READ_BODY = 'readBody'

export function createLargeBodies(readers: Pick<ReaderPool, 'run'>, budget: MemoryBudget): LargeBodies {
  /**
   * The process may have died for another reason, such as a lack of memory on the host. The job is therefore
   * tried twice.
   */
  const readTwice = async (
    owner: string,
    pieces: readonly Uint8Array[],
    job: BodyJob,
  ): Promise<BodyAnswer> => {
    const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0)
    const run = () => readers.run({ name: READ_BODY, owner, sizeBytes, load: async () => job, pieces })
    const answer = await run().catch(error => {
      if (error instanceof ProcessDied) return run()
      throw error
    })
    return answer as BodyAnswer
  }

  return {
    bytesMax: budget.ownerBytesMax,
    enter: (owner, bytes) => reserve(budget, owner, bytes),
    async read<W extends BodyWork>(owner: string, pieces: readonly Uint8Array[], work: W) {
      try {
        return readAnswer(await readTwice(owner, pieces, { work })) as BodyOf<W>
      } catch (error) {
        if (error instanceof ProcessNotStarted || error instanceof ProcessKilled) throw tooMuch()
        if (error instanceof ProcessDied || error instanceof JobTooLong) throw unreadable()
        throw error
      }
    },
  }
}

/** @throws ApiError 503 when no memory becomes free */
export async function reserve(budget: MemoryBudget, owner: string, bytes: number): Promise<Reservation> {
  try {
    return await budget.take(owner, bytes)
  } catch (error) {
    if (error instanceof TooManyWaiting) throw tooMuch()
    throw error
  }
}

function unreadable(): ApiError {
  return new ApiError(
    413,
    'validation_error',
    'Parsing the request body exceeded the memory or time limit. Split it into several smaller requests.',
  )
}

function tooMuch(): ApiError {
  return new ApiError(
    503,
    'application_error',
    `Too many large requests and messages are being processed. Retry after ${RETRY_AFTER_SECONDS} s.`,
    { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
  )
}
