/** What the process that reads submitted messages is asked, and how its answers travel. */

import type { PreparedRequest } from '../../pipeline/accept/prepared.ts'
import { prepareRawMessage } from '../../pipeline/accept/raw-message.ts'
import { isRefusal, type Refusal } from '../../pipeline/accept/refusal.ts'
import type { IdempotencyToken } from '../../pipeline/accept/submission.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { StorageUnavailable } from '../../store/command.ts'
import { partsOf } from './parts.ts'
import { readMessage, type Submitted } from './read-message.ts'

export interface ReadingJob extends Omit<Submitted, 'octets'> {
  pieces: readonly Uint8Array[]
  /** Whether the message is taken apart for those who look at it. */
  inParts: boolean
}

export interface ReadSubmission {
  prepared: PreparedRequest
  idempotency: IdempotencyToken | null
}

/** Exceptions that mean something travel as values. */
export type ReadingAnswer = ReadSubmission | Refusal | { unavailable: string }

/** Repeated submissions over SMTP are compared with the first one only. */
const ENDPOINT = 'smtp'

export async function doReadingJob(
  { pieces, inParts, ...facts }: ReadingJob,
  options: { blobs: BlobFiles; storedFromCharacters: number },
): Promise<ReadingAnswer> {
  const octets = Buffer.concat(pieces)
  const read = await readMessage({ octets, ...facts }, inParts ? partsOf : null)
  if (isRefusal(read)) return read
  const idempotency = read.idempotency && { endpoint: ENDPOINT, ...read.idempotency }
  try {
    const prepared = await prepareRawMessage(options, read.message)
    return { prepared, idempotency }
  } catch (error) {
    if (error instanceof StorageUnavailable) return { unavailable: error.message }
    throw error
  }
}
