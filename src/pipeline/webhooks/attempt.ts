/** One attempt to tell a webhook of an event: a signed request, and what became of it. */
import type { Clock } from '../../lib/clock.ts'
import { OutboundFault } from '../../protocols/http-client/fault.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import { bodyOf } from './body.ts'
import type { ClaimedWebhookDelivery, WebhookAttempt } from './dispatch-commands.ts'
import { waitAfter } from './retry.ts'
import { type Signing, signedHeaders } from './signature.ts'

export interface WebhookAttemptOptions {
  outbound: Pick<Outbound, 'send'>
  clock: Clock
  /** 0 to 1 */
  random(): number
  mailHost: string
}

export interface WebhookTarget {
  webhookId: WebhookAttempt['webhookId']
  url: string
  signing: Signing
}

export const ATTEMPT_LIMIT_MS = 10_000
const REPLY_BYTES_MAX = 64 * 1024
/** Of the reply, so much is kept. */
const REPLY_BYTES_KEPT_MAX = 4 * 1024

/** Never rejects for what the endpoint does: any 2xx in time is success, all else is tried again. */
export async function attemptWebhook(
  { outbound, clock, random, mailHost }: WebhookAttemptOptions,
  { webhookId, url, signing }: WebhookTarget,
  delivery: ClaimedWebhookDelivery,
): Promise<WebhookAttempt> {
  const { id, eventId, attempt, isTest } = delivery
  const body = bodyOf(delivery, mailHost)
  const [startedAt, began] = [clock.now(), clock.monotonic()]
  const reply = await outbound.send({
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signedHeaders({ eventId, body, at: startedAt }, signing),
    },
    body,
    limitMs: ATTEMPT_LIMIT_MS,
    limitBytes: REPLY_BYTES_MAX,
    whenLonger: 'cut',
  })
  const isReply = !(reply instanceof OutboundFault)
  const success = isReply && reply.status >= 200 && reply.status < 300
  const wait = success || isTest === 1 ? undefined : waitAfter(attempt, random)
  return {
    ...{ webhookId, id, attempt, startedAt, url, success },
    durationMs: Math.round(clock.monotonic() - began),
    responseStatus: isReply ? reply.status : null,
    responseBody: isReply ? keptOf(reply.body) : null,
    error: isReply ? null : reply.message,
    nextAt: wait === undefined ? null : clock.now() + wait,
  }
}

/** As text that every database takes. */
function keptOf(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, REPLY_BYTES_KEPT_MAX)).replaceAll('\0', '\ufffd')
}
