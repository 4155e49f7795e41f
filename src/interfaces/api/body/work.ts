/** Work on a parsed request body. It runs on the main thread, or in the child process for large bodies. */

import type { Id } from '../../../lib/ids.ts'
import type { Preparation } from '../../../pipeline/accept/prepare.ts'
import type { BatchMode, PreparedRequest } from '../../../pipeline/accept/prepared.ts'
import { readBatch } from '../emails/batch-schema.ts'
import { readSendEmail } from '../emails/send-schema.ts'
import { requestHash } from './json.ts'

/** Work on the body of a request that sends emails. */
export interface SendWork {
  accountId: Id
  /** Validation mode of a batch; null for a single email. */
  mode: BatchMode | null
  /** Whether to compute the hash of the body. */
  hashed: boolean
}

export interface SendBody {
  prepared: PreparedRequest
  /** SHA-256 of the canonical form of the body, null unless requested. */
  hash: Uint8Array | null
}

/** Null returns the parsed value unchanged. */
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
