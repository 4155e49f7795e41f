/** Runs in the reader process: parses a submitted message and prepares its email for storage. */

import type { Id } from '../../lib/ids.ts'
import type { TakePieces } from '../../lib/serve-process.ts'
import type { Preparation } from '../../pipeline/accept/prepare.ts'
import type { PreparedRequest } from '../../pipeline/accept/prepared.ts'
import { isRefusal, type Refusal } from '../../pipeline/accept/refusal.ts'
import type { IdempotencyToken } from '../../pipeline/accept/submission.ts'
import { StorageUnavailable } from '../../store/model/command.ts'
import { partsOf, readMessage, type Submitted } from './read-message.ts'

export interface ReadingJob extends Omit<Submitted, 'octets'> {
  accountId: Id
  /** Whether texts and attachments are extracted for display. */
  inParts: boolean
}

export interface ReadSubmission {
  prepared: PreparedRequest
  idempotency: IdempotencyToken | null
}

/** Refusals and expected errors are values, since exceptions lose their class between processes. */
export type ReadingAnswer = ReadSubmission | Refusal | { unavailable: string }

/** Scope of idempotency keys: submissions over SMTP are compared only with one another. */
const ENDPOINT = 'smtp'

export async function doReadingJob(
  { accountId, inParts, ...facts }: ReadingJob,
  takePieces: TakePieces,
  preparation: Pick<Preparation, 'email'>,
): Promise<ReadingAnswer> {
  const octets = Buffer.concat(takePieces())
  const read = await readMessage({ octets, ...facts }, inParts ? partsOf : null)
  if (isRefusal(read)) return read
  const idempotency = read.idempotency && { endpoint: ENDPOINT, ...read.idempotency }
  try {
    return { prepared: await preparation.email(accountId, read.message), idempotency }
  } catch (error) {
    if (error instanceof StorageUnavailable) return { unavailable: error.message }
    throw error
  }
}
