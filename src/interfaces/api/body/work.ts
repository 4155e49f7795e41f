/**
 * What is done with a parsed request body: the same on the main thread and, for large ones, in a reader
 * process.
 */

import type { Id } from '../../../lib/ids.ts'
import type { Preparation } from '../../../pipeline/accept/prepare.ts'
import type { BatchMode, PreparedRequest } from '../../../pipeline/accept/prepared.ts'
import { readBatch } from '../emails/batch-schema.ts'
import { readSendEmail } from '../emails/send-schema.ts'
import { requestHash } from './json.ts'

/** What is wanted of the body of a request that sends. */
export interface SendWork {
  accountId: Id
  /** Validation mode of a batch; null for a single email. */
  mode: BatchMode | null
  /** Whether the hash is wanted. */
  hashed: boolean
}

export interface SendBody {
  prepared: PreparedRequest
  /** SHA-256 of the body's canonical form, where it is wanted. */
  hash: Uint8Array | null
}

/** Null: the value as it is. */
export type BodyWork = SendWork | null
export type BodyOf<W extends BodyWork> = W extends SendWork ? SendBody : unknown

/** @throws ApiError @throws StorageUnavailable */
export async function doBodyWork<W extends BodyWork>(
  body: object,
  work: W,
  preparation: Preparation,
): Promise<BodyOf<W>> {
  return (work === null ? body : await sendBody(body, work, preparation)) as BodyOf<W>
}

async function sendBody(
  body: object,
  { accountId, mode, hashed }: SendWork,
  preparation: Preparation,
): Promise<SendBody> {
  const hash = hashed ? requestHash(body) : null
  const prepared =
    mode === null
      ? await preparation.email(accountId, readSendEmail(body))
      : await preparation.batch(accountId, readBatch(body, mode))
  return { prepared, hash }
}
