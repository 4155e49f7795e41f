/** Code that verifies the signature of a webhook. */

export const VERIFIERS = [
  ['openssl', 'openssl'],
  ['node', 'Node'],
  ['python', 'Python'],
  ['sdk', 'Resend SDK'],
] as const
export type Verifier = (typeof VERIFIERS)[number][0]

/** A delivery whose signature is verified by hand. */
interface Signed {
  timestamp: string
  body: string
}

const NODE = `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the raw body as text
export function isGood(secret, headers, body) {
  const timestamp = headers['svc-timestamp']
  if (Math.abs(Date.now() / 1000 - timestamp) > 300) return false
  const expected = createHmac('sha256', secret).update(\`\${timestamp}.\${body}\`).digest('hex')
  return (headers['svc-signature'] ?? '')
    .split(',')
    .some(given => given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected)))
}`
const PYTHON = `import hashlib
import hmac
import time

# body: the raw body as bytes
def is_good(secret, headers, body):
    timestamp = headers["svc-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        return False
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(given, expected) for given in headers["svc-signature"].split(","))`
const SDK = `import { Resend } from 'resend'

// Throws if the signature is wrong. payload: the raw body as text
const event = new Resend('re_unused').webhooks.verify({
  payload,
  headers: {
    id: headers['webhook-id'],
    timestamp: headers['webhook-timestamp'],
    signature: headers['webhook-signature'],
  },
  webhookSecret: process.env.WEBHOOK_SECRET,
})`

/** Returns the code; that for openssl computes the signature of the delivery. */
export function verifierOf(verifier: Verifier, { timestamp, body }: Signed): string {
  switch (verifier) {
    case 'openssl': {
      const text = `${timestamp}.${body}`.replaceAll("'", "'\\''")
      return `printf '%s' '${text}' |\n  openssl dgst -sha256 -hmac "$WEBHOOK_SECRET"`
    }
    case 'node':
      return NODE
    case 'python':
      return PYTHON
    case 'sdk':
      return SDK
  }
}
