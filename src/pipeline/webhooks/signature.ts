/** Signs webhook requests, so that a receiver can verify origin, content and time. */
import { createHmac, randomBytes } from 'node:crypto'
import { type Id, idText } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import type { WebhookRow } from '../../store/model/schema.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

export interface Signing {
  /** Each secret makes a signature. */
  secrets: readonly string[]
  /** Whether headers of Standard Webhooks are added, under both names. */
  isStandard: boolean
}

export function newSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

export function sealSecret(secrets: SecretKeys, webhookId: Id, secret: string): Uint8Array {
  return secrets.seal(Buffer.from(secret), contextOf(webhookId))
}

/** Columns that determine the signatures. */
export const SIGNING_COLUMNS = [
  'id',
  'secret',
  'formerSecret',
  'formerUntil',
  'earlierSecret',
  'earlierUntil',
  'standard',
] as const

/** Returns the current secret, and up to two former ones for a day after each was replaced. */
export function signingOf(
  secrets: SecretKeys,
  webhook: Pick<WebhookRow, (typeof SIGNING_COLUMNS)[number]>,
  now: number,
): Signing {
  const { id, secret, formerSecret, formerUntil, earlierSecret, earlierUntil, standard } = webhook
  const former = [
    { box: formerSecret, until: formerUntil },
    { box: earlierSecret, until: earlierUntil },
  ].flatMap(({ box, until }) => (box !== null && until !== null && now < until ? [box] : []))
  return {
    secrets: [secret, ...former].map(box => openSecret(secrets, id, box)),
    isStandard: standard === 1,
  }
}

/** Decrypts a stored secret of the webhook. */
function openSecret(secrets: SecretKeys, webhookId: Id, box: Uint8Array): string {
  return secrets.open(box, contextOf(webhookId)).toString()
}

function contextOf(webhookId: Id): string {
  return `webhook ${idText(webhookId)}`
}

/**
 * The values of Standard Webhooks are sent under two names: those of the specification, and `svix-…`, which
 * the verifiers of all SDKs read.
 * @param message its id as receivers see it, and the time of the attempt in ms since the epoch
 */
export function signedHeaders(
  { id, body, at }: { id: string; body: string; at: number },
  { secrets, isStandard }: Signing,
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000))
  const own = secrets.map(secret => hmac(secret, `${timestamp}.${body}`).toString('hex'))
  const headers = { 'svc-id': id, 'svc-timestamp': timestamp, 'svc-signature': own.join(',') }
  if (!isStandard) return headers
  const standard = secrets.map(secret => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${hmac(key, `${id}.${timestamp}.${body}`).toString('base64')}`
  })
  const signature = standard.join(' ')
  return {
    ...headers,
    ...{ 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
    ...{ 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signature },
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
