/**
 * DKIM keys. A key pair is made when a domain is registered or its key is rotated; its public key is
 * published in DNS, and delivery workers load the private key.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** RFC 8301 §3.1, RFC 8463 §3. */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'

/** The public identity of a signer. */
export interface SignerIdentity {
  /** Domain of the d= tag, in A-labels. */
  domain: string
  selector: string
  algorithm: DkimAlgorithm
}

export interface SigningKey extends SignerIdentity {
  privateKey: KeyObject
  publicKey: KeyObject
}

interface DkimKeyPair {
  /** PKCS#8 in DER. */
  privateKey: Buffer
  /** Base64 as in p=: SubjectPublicKeyInfo for RSA, the bare 32 octets for Ed25519 (RFC 8463 §4). */
  publicKey: string
}

const RSA_BITS = 2048
/** Verifiers must not accept shorter keys (RFC 8301 §3.2). */
const RSA_BITS_MIN = 1024
const ED25519_KEY_OCTETS = 32
const generate = promisify(generateKeyPair)

export async function generateDkimKey(algorithm: DkimAlgorithm): Promise<DkimKeyPair> {
  if (algorithm === 'rsa-sha256') {
    const pair = await generate('rsa', { modulusLength: RSA_BITS })
    return { privateKey: toPkcs8(pair.privateKey), publicKey: toSpki(pair.publicKey).toString('base64') }
  }
  const pair = await generate('ed25519')
  const bare = toSpki(pair.publicKey).subarray(-ED25519_KEY_OCTETS)
  return { privateKey: toPkcs8(pair.privateKey), publicKey: bare.toString('base64') }
}

/**
 * Formats the TXT record at `<selector>._domainkey.<domain>` (RFC 6376 §3.6.1). It is longer than one DNS
 * character-string.
 */
export function dkimRecord(algorithm: DkimAlgorithm, publicKey: string): string {
  return `v=DKIM1; k=${algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'}; p=${publicKey}`
}

/** @returns the `p=` tag of a key record without folding white space, or undefined if the record has none */
export function publicKeyIn(record: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1]?.replace(/\s+/g, '')
}

/** Formats the record of a revoked key: p= is empty. */
export function revokedDkimRecord(algorithm: DkimAlgorithm): string {
  return dkimRecord(algorithm, '')
}

/**
 * Parses a private key once, since parsing costs more than a signature.
 *
 * @param der PKCS#8
 * @throws if the key cannot be parsed or does not fit the algorithm
 */
export function loadSigningKey(identity: SignerIdentity, der: Uint8Array): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
  const { domain, selector, algorithm } = identity
  const type = privateKey.asymmetricKeyType
  if (type !== (algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'))
    throw new Error(`the key of ${selector}._domainkey.${domain} is ${type}, not for ${algorithm}`)
  const bits = privateKey.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < RSA_BITS_MIN)
    throw new Error(
      `the key of ${selector}._domainkey.${domain} has ${bits} bits, fewer than ${RSA_BITS_MIN}`,
    )
  return { domain, selector, algorithm, privateKey, publicKey: createPublicKey(privateKey) }
}

/** @param publicKey base64 as in p=, see `DkimKeyPair` */
export function loadPublicKey({
  algorithm,
  publicKey,
}: Pick<SignerIdentity, 'algorithm'> & { publicKey: string }): KeyObject {
  const bytes = Buffer.from(publicKey, 'base64')
  if (algorithm === 'rsa-sha256') return createPublicKey({ key: bytes, format: 'der', type: 'spki' })
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }
  return createPublicKey({ key: jwk, format: 'jwk' })
}

function toPkcs8(key: KeyObject): Buffer {
  return key.export({ type: 'pkcs8', format: 'der' })
}

function toSpki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}
