/** Reads the sender and the `Idempotency-Key` of requests that send emails. */
import * as z from 'zod'
import type { Id } from '../../../lib/ids.ts'
import { KEY_CHARACTERS_MAX } from '../../../pipeline/accept/idempotency.ts'
import type { BatchMode, PreparedRequest } from '../../../pipeline/accept/prepared.ts'
import type { IdempotencyToken, Sender } from '../../../pipeline/accept/submission.ts'
import { ApiError } from '../api-error.ts'
import { boundDomain } from '../auth/bound-key.ts'
import type { ApiRequest, Credential } from '../route/route.ts'

export const idempotencyHeader = {
  'idempotency-key': z.string().min(1).max(KEY_CHARACTERS_MAX).optional(),
}

export function senderOf({ credential }: ApiRequest): Sender {
  const apiKeyId = programIdOf(credential)
  return { accountId: credential.accountId, apiKeyId, domain: boundDomain(credential) }
}

/** Returns the id of the API key or access token; null for a session. */
function programIdOf(credential: Credential): Id | null {
  if (credential.kind === 'key') return credential.apiKeyId
  return credential.kind === 'token' ? credential.tokenId : null
}

/**
 * Prepares the body and creates the token of its `Idempotency-Key`.
 *
 * @param mode null for a single email
 * @throws ApiError 400 for an invalid key, and the errors of reading the body
 */
export async function readIdempotent(
  request: ApiRequest,
  endpoint: string,
  mode: BatchMode | null,
): Promise<{ prepared: PreparedRequest; idempotency: IdempotencyToken | null }> {
  const key = readKey(request)
  const { accountId } = request.credential
  const { prepared, hash } = await request.sendBody({ accountId, mode, hashed: key !== undefined })
  return { prepared, idempotency: key === undefined ? null : { endpoint, key, bodyHash: hash! } }
}

/** @throws ApiError 400 for an invalid key */
export function readKey({ headers }: Pick<ApiRequest, 'headers'>): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || key.trim() === '' || key.length > KEY_CHARACTERS_MAX)
    throw new ApiError(
      400,
      'invalid_idempotency_key',
      `The \`Idempotency-Key\` header must contain 1 to ${KEY_CHARACTERS_MAX} characters; got ${key.length}.`,
    )
  return key
}
