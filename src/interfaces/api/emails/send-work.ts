/**
 * Prepares the emails in a parsed request body. This runs on the main thread, or in the child process for
 * large bodies.
 */
import { canonicalHash } from '../../../lib/canonical-json.ts'
import type { Preparation } from '../../../pipeline/accept/prepare.ts'
import type { BodyOf, BodyWork, SendBody, SendWork } from '../route/route.ts'
import { readBatch } from './batch-schema.ts'
import { readSendEmail } from './send-schema.ts'

export const SEND_BODY_LIMIT_BYTES = 56 * 1024 * 1024

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
  const hash = hashed ? canonicalHash(body) : null
  const prepared =
    mode === null
      ? await preparation.email(accountId, readSendEmail(body))
      : await preparation.batch(accountId, readBatch(body, mode))
  return { prepared, hash }
}
