/**
 * Answers `Expect: 100-continue` (RFC 9110 §10.1.1): a client that waits is asked for its body only when the
 * body is going to be read. A request that is refused by its head gets the final status instead, so that the
 * client need not upload its body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyTooLarge } from '../api-error.ts'

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Must be called before the request is handled if its client waits for `100 Continue`. */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response)
}

/** Tells whether the client still waits before it sends the body. */
export function isWithheld(request: IncomingMessage): boolean {
  return waiting.has(request)
}

/**
 * Must be called before the body is read.
 * @throws ApiError 413 if the client waits and has announced a body that is too large
 */
export function askForBody(request: IncomingMessage, limitBytes: number): void {
  const response = waiting.get(request)
  if (!response) return
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes)
  waiting.delete(request)
  response.writeContinue()
}
