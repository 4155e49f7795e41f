/**
 * Requests to a certificate authority are signed by the account's key (RFC 8555 §6.2), in the form of
 * RFC 7515.
 */
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'

interface Protected {
  url: string
  nonce: string
  /** The account's URL; without it the key itself is sent, as for a new account. */
  kid: string | null
}

/** @param key private, on P-256 @param payload null for reading (POST-as-GET, RFC 8555 §6.3) */
export function signedBody(key: KeyObject, { url, nonce, kid }: Protected, payload: object | null): string {
  const who = kid === null ? { jwk: publicJwk(key) } : { kid }
  const head = base64url(JSON.stringify({ alg: 'ES256', url, nonce, ...who }))
  const body = payload === null ? '' : base64url(JSON.stringify(payload))
  const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' })
  return JSON.stringify({ protected: head, payload: body, signature: signature.toString('base64url') })
}

/** What proves that an account answers a challenge (RFC 8555 §8.1, RFC 7638). */
export function keyAuthorization(key: KeyObject, token: string): string {
  const thumbprint = createHash('sha256')
    .update(JSON.stringify(publicJwk(key)))
    .digest('base64url')
  return `${token}.${thumbprint}`
}

/** Its members in the order that thumbprints are made of. */
function publicJwk(key: KeyObject) {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
  return { crv, kty, x, y }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
