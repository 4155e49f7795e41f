/** Requests that send: who sends, and what makes the request known when it is repeated. */
import { z } from 'zod'
import { LONGEST_KEY } from '../accept/idempotency.ts'
import type { IdempotencyToken, Sender } from '../accept/submission.ts'
import { boundDomain } from './bound-key.ts'
import { Refused } from './refused.ts'
import type { ApiRequest } from './route.ts'

export const idempotencyHeader = {
  'idempotency-key': z.string().min(1).max(LONGEST_KEY).optional(),
}

export function senderOf({ credential }: ApiRequest): Sender {
  const apiKeyId = credential.kind === 'key' ? credential.apiKeyId : null
  return { accountId: credential.accountId, apiKeyId, domain: boundDomain(credential) }
}

/** The body with the token of its `Idempotency-Key`. @throws Refused 400 when the key is unusable */
export async function readRepeatable(
  request: ApiRequest,
  endpoint: string,
): Promise<{ body: unknown; idempotency: IdempotencyToken | null }> {
  const key = request.headers['idempotency-key']
  if (key === undefined) return { body: await request.body(), idempotency: null }
  const { body, hash: bodyHash } = await request.hashedBody()
  if (typeof key !== 'string' || key.trim() === '' || key.length > LONGEST_KEY)
    throw new Refused(
      400,
      'invalid_idempotency_key',
      `The Idempotency-Key header must have 1 to ${LONGEST_KEY} characters.`,
    )
  return { body, idempotency: { endpoint, key, bodyHash } }
}
