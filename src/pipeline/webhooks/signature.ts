/** Signs webhook requests, so that a receiver can verify origin, content and time. */
import { createHmac, randomBytes } from 'node:crypto'
import { type Id, idText, wireId } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import type { WebhookRow } from '../../store/schema.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

export interface Signing {
  /** Each secret makes a signature. */
  secrets: readonly string[]
  /** Whether headers of Standard Webhooks are added. */
  isStandard: boolean
}

export function newSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

export function sealSecret(secrets: SecretKeys, webhookId: Id, secret: string): Uint8Array {
  return secrets.seal(Buffer.from(secret), contextOf(webhookId))
}

/** Returns the current secret, and the former one until the end of a rotation. */
export function signingOf(
  secrets: SecretKeys,
  webhook: Pick<WebhookRow, 'id' | 'secret' | 'formerSecret' | 'formerUntil' | 'standard'>,
  now: number,
): Signing {
  const { id, secret, formerSecret, formerUntil, standard } = webhook
  const isFormerValid = formerSecret !== null && formerUntil !== null && now < formerUntil
  const boxes = isFormerValid ? [secret, formerSecret] : [secret]
  return {
    secrets: boxes.map(box => secrets.open(box, contextOf(id)).toString()),
    isStandard: standard === 1,
  }
}

function contextOf(webhookId: Id): string {
  return `webhook ${idText(webhookId)}`
}

/** @param at is the time of the attempt in ms since the epoch */
export function signedHeaders(
  { eventId, body, at }: { eventId: Id; body: string; at: number },
  { secrets, isStandard }: Signing,
): Record<string, string> {
  const id = wireId('evt', eventId)
  const timestamp = String(Math.floor(at / 1_000))
  const own = secrets.map(secret => hmac(secret, `${timestamp}.${body}`).toString('hex'))
  const headers = { 'svc-id': id, 'svc-timestamp': timestamp, 'svc-signature': own.join(',') }
  if (!isStandard) return headers
  const standard = secrets.map(secret => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${hmac(key, `${id}.${timestamp}.${body}`).toString('base64')}`
  })
  return {
    ...headers,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
