/**
 * Has submitted messages parsed in a child process, so that a hostile message can exhaust the memory of that
 * process at worst.
 */

import type { Clock } from '../../lib/clock.ts'
import { type IdSource, idKey, idText } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { ReaderPool } from '../../lib/reader-pool.ts'
import { ProcessKilled, ProcessNotStarted } from '../../lib/worker-process.ts'
import { WorkerEnded } from '../../lib/worker-rpc.ts'
import type { Refusal } from '../../pipeline/accept/refusal.ts'
import type { Sender } from '../../pipeline/accept/submission.ts'
import { withOwnMemory } from '../../pipeline/accept/transferables.ts'
import { receivedField } from '../../protocols/mime/received-field.ts'
import { StorageUnavailable } from '../../store/model/command.ts'
import type { SubmittedEnvelope } from './listener.ts'
import type { ReadingAnswer, ReadingJob, ReadSubmission } from './reading-job.ts'

export interface MessageReader {
  /**
   * Messages of several accounts are read round robin, small messages first.
   *
   * @returns a refusal also for a message that can never be read
   * @throws StorageUnavailable; Error when the message cannot be read now
   */
  read(
    sender: Pick<Sender, 'accountId'>,
    pieces: readonly Uint8Array[],
    envelope: SubmittedEnvelope,
  ): Promise<ReadSubmission | Refusal>
}

interface MessageReaderOptions {
  readers: Pick<ReaderPool, 'run'>
  clock: Clock
  newId: IdSource
  /** Name of this host in the trace. */
  mailHost: string
  /** The setting `smtp.submission.hide_origin`. */
  hidesOrigin: boolean
  log: Log
}

/** Name of the function in the reader process. */
export const READ_SUBMISSION = 'readSubmission'

export function createMessageReader({
  readers,
  clock,
  newId,
  mailHost,
  hidesOrigin,
  log,
}: MessageReaderOptions): MessageReader {
  return {
    async read({ accountId }, pieces, { recipients, dsn, client, protocol }) {
      const now = clock.now()
      const messageName = idText(newId(now))
      const trace = { client: hidesOrigin ? null : client, by: mailHost, protocol, id: messageName, at: now }
      const job: ReadingJob = {
        ...{ accountId, recipients, dsn, now, messageName, hidesOrigin },
        received: receivedField(trace),
        inParts: true,
      }
      const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0)
      const run = async (job: ReadingJob) =>
        (await readers.run({
          ...{ name: READ_SUBMISSION, owner: idKey(accountId), sizeBytes },
          load: async () => job,
          pieces,
        })) as ReadingAnswer
      const answer = await run(job)
        .catch(error => {
          if (isUnrelated(error)) throw error
          log.warn(
            { err: error, event: 'submission_not_parsed' },
            'A submitted message is sent without being parsed',
          )
          return run({ ...job, inParts: false })
        })
        .catch(error => {
          if (isUnrelated(error) || error instanceof ProcessKilled) throw error
          log.error(
            { err: error, event: 'submission_unreadable' },
            'A submitted message is refused: it cannot be read',
          )
          return UNREADABLE
        })
      if ('unavailable' in answer) throw new StorageUnavailable(answer.unavailable)
      if ('prepared' in answer) withOwnMemory(answer.prepared)
      return answer
    },
  }
}

/** The refusal is permanent: the same message would fail again, and its client would retry for days. */
const UNREADABLE: Refusal = {
  refused: 'invalid_field',
  message: 'Parsing the message failed or exceeded the memory or time limit.',
}

/** True if the message was not read at all: no process could be started, or the service stops. */
function isUnrelated(error: unknown): boolean {
  return error instanceof ProcessNotStarted || error instanceof WorkerEnded
}
