/**
 * Signs requests to a certificate authority with the key of the account (RFC 8555 §6.2), in the format of
 * RFC 7515.
 */
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'

interface Protected {
  url: string
  nonce: string
  /** URL of the account; null sends the public key instead, as for a new account. */
  kid: string | null
}

/**
 * @param key private key on P-256
 * @param payload null for a read request (POST-as-GET, RFC 8555 §6.3)
 */
export function signedBody(key: KeyObject, { url, nonce, kid }: Protected, payload: object | null): string {
  const who = kid === null ? { jwk: publicJwk(key) } : { kid }
  const head = base64url(JSON.stringify({ alg: 'ES256', url, nonce, ...who }))
  const body = payload === null ? '' : base64url(JSON.stringify(payload))
  const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' })
  return JSON.stringify({ protected: head, payload: body, signature: signature.toString('base64url') })
}

/** Returns the key authorization that answers a challenge (RFC 8555 §8.1, RFC 7638). */
export function keyAuthorization(key: KeyObject, token: string): string {
  const thumbprint = createHash('sha256')
    .update(JSON.stringify(publicJwk(key)))
    .digest('base64url')
  return `${token}.${thumbprint}`
}

/** Returns the members in the order that the thumbprint requires. */
function publicJwk(key: KeyObject) {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
  return { crv, kty, x, y }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
