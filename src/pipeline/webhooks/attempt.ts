/** Makes one delivery attempt to a webhook: sends a signed request and returns the result. */
import type { Clock } from '../../lib/clock.ts'
import { wireId } from '../../lib/ids.ts'
import type { OutboundReply } from '../../protocols/http-client/exchange.ts'
import { OutboundFault } from '../../protocols/http-client/fault.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import type { SdkDialect } from '../../resources/compat/typed-clients.ts'
import { bodyOf } from './body.ts'
import type { ClaimedWebhookDelivery, WebhookAttempt } from './dispatch-commands.ts'
import { retryDelay } from './retry.ts'
import { type Signing, signedHeaders } from './signature.ts'

export interface WebhookAttemptOptions {
  outbound: Pick<Outbound, 'send'>
  clock: Clock
  /** Returns a number from 0 to 1. */
  random(): number
  mailHost: string
}

export interface WebhookTarget {
  webhookId: WebhookAttempt['webhookId']
  url: string
  dialect: SdkDialect | null
  signing: Signing
}

/** Time limit of a request, in ms. */
export const ATTEMPT_MS_MAX = 10_000
const RESPONSE_BYTES_MAX = 64 * 1024
/** The stored part of a response body. */
const STORED_RESPONSE_BYTES_MAX = 4 * 1024

/**
 * Any 2xx status line in time is a success, whatever becomes of the body; every other result is retried.
 * Faults of the endpoint do not reject.
 */
export async function attemptWebhook(
  { outbound, clock, random, mailHost }: WebhookAttemptOptions,
  { webhookId, url, dialect, signing }: WebhookTarget,
  delivery: ClaimedWebhookDelivery,
): Promise<WebhookAttempt> {
  const { id, eventId, attempt, isTest } = delivery
  const body = bodyOf(delivery, mailHost, dialect)
  const [startedAt, began] = [clock.now(), clock.monotonic()]
  const headers = signedHeaders({ id: wireId('evt', eventId), body, at: startedAt }, signing)
  const reply = await postWebhook(outbound, { url, headers, body })
  const isReply = !(reply instanceof OutboundFault)
  const success = isSuccess(reply)
  const delayMs = success || isTest === 1 ? undefined : retryDelay(attempt, random)
  return {
    webhookId,
    id,
    attempt,
    startedAt,
    url,
    success,
    durationMs: Math.round(clock.monotonic() - began),
    responseStatus: isReply ? reply.status : null,
    responseBody: isReply ? storedText(reply.body) : null,
    error: isReply ? null : reply.message,
    nextAt: delayMs === undefined ? null : clock.now() + delayMs,
  }
}

/** Sends a JSON body within the limits of webhooks. Any status is a reply, whatever becomes of its body. */
export function postWebhook(
  outbound: Pick<Outbound, 'send'>,
  { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
): Promise<OutboundReply | OutboundFault> {
  return outbound.send({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    limitMs: ATTEMPT_MS_MAX,
    limitBytes: RESPONSE_BYTES_MAX,
    whenLonger: 'cut',
    whenBroken: 'cut',
  })
}

export function isSuccess(reply: OutboundReply | OutboundFault): reply is OutboundReply {
  return !(reply instanceof OutboundFault) && reply.status >= 200 && reply.status < 300
}

/** Truncates and decodes the body. PostgreSQL stores no NUL characters. */
export function storedText(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, STORED_RESPONSE_BYTES_MAX)).replaceAll('\0', '\ufffd')
}
