/** Submitted messages as the main thread sees them: little in memory at a time, read one by one on another thread. */

import type { Refusal } from '../accept/refusal.ts'
import { type Clock, within } from '../lib/clock.ts'
import { type IdSource, idText } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Metrics } from '../lib/metrics.ts'
import { createPassingThread } from '../lib/passing-thread.ts'
import type { Mailbox } from '../smtp/address.ts'
import { StorageUnavailable } from '../store/command.ts'
import type { StoreLocation } from '../store/dialect.ts'
import type { ReadingAnswer, ReadingJob, ReadSubmission } from './reading-job.ts'

export interface MessageReader {
  /**
   * The memory of the pieces is not to be used any more.
   * @throws StorageUnavailable
   */
  read(pieces: Uint8Array<ArrayBuffer>[], recipients: Mailbox[]): Promise<ReadSubmission | Refusal>
  close(): Promise<void>
}

interface MessageReaderOptions {
  /** File of the thread. */
  entry: URL
  location: StoreLocation
  clock: Clock
  newId: IdSource
  metrics?: Metrics | undefined
  log: Log
}

/** What takes longer is not ordinary mail: it is sent without having been taken apart. */
const MOST_READING_MS = 20_000

export function createMessageReader(options: MessageReaderOptions): MessageReader {
  const { entry, location, clock, newId, metrics, log } = options
  const thread = createPassingThread({ name: 'submission', entry, data: { location }, metrics, log })
  let turn: Promise<unknown> = Promise.resolve()

  /** Undefined when it takes too long, or fails. */
  const inParts = async (job: ReadingJob): Promise<ReadingAnswer | undefined> => {
    try {
      const answer = await within(clock, MOST_READING_MS, thread.call('read', job))
      if (answer) return answer as ReadingAnswer
      log.warn('a submitted message took too long to be taken apart; it is sent as it is')
      await thread.end()
    } catch (error) {
      log.warn({ err: error }, 'a submitted message could not be taken apart; it is sent as it is')
    }
    return undefined
  }
  const work = async (job: ReadingJob): Promise<ReadSubmission | Refusal> => {
    const answer =
      (await inParts(job)) ?? ((await thread.call('read', { ...job, inParts: false })) as ReadingAnswer)
    if ('unavailable' in answer) throw new StorageUnavailable(answer.unavailable)
    return answer
  }

  return {
    async read(pieces, recipients) {
      const now = clock.now()
      const job = { pieces, recipients, now, messageName: idText(newId(now)), inParts: true }
      const done = turn.then(() => work(job))
      turn = done.catch(() => {}) // its own submission tells of it
      return done
    },
    async close() {
      await turn
      await thread.close()
    },
  }
}
