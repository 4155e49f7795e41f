/** Sends an email that somebody wrote, once. */
import { call } from './client.ts'
import { randomId } from './files.ts'

export interface SentEmail {
  id: string
  warnings?: { path: string; message: string }[]
}

/** Last request that has not succeeded. */
let attempt: { text: string; key: string } | undefined

/**
 * Sends the email. Until a request has succeeded, the same email has the same idempotency key, so that it is
 * sent once even if a reply was lost.
 * @throws ApiError
 */
export async function sendOnce(request: object): Promise<SentEmail> {
  const text = JSON.stringify(request)
  if (attempt?.text !== text) attempt = { text, key: randomId() }
  const headers = { 'idempotency-key': attempt.key }
  const sent = await call<SentEmail>('POST', '/emails', request, { headers })
  attempt = undefined
  return sent
}
