/**
 * DKIM keys: made when a domain is registered or its key rotates, published in DNS, loaded by the delivery
 * threads.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** RFC 8301 §3.1, RFC 8463 §3. */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'

/** What a signature says of its signer; all of it is public. */
export interface SignerIdentity {
  /** A-labels. The d= tag. */
  domain: string
  selector: string
  algorithm: DkimAlgorithm
}

export interface SigningKey extends SignerIdentity {
  privateKey: KeyObject
  publicKey: KeyObject
}

interface DkimKeyPair {
  /** PKCS#8, DER. */
  privateKey: Buffer
  /**
   * Base64 as it stands in p=: SubjectPublicKeyInfo for RSA, the bare 32 octets for Ed25519 (RFC 8463 §4).
   */
  publicKey: string
}

const RSA_BITS = 2048
/** Verifiers must not accept shorter ones (RFC 8301 §3.2). */
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
 * The text of the TXT record at `<selector>._domainkey.<domain>` (RFC 6376 §3.6.1), longer than one DNS
 * string.
 */
export function dkimRecord(algorithm: DkimAlgorithm, publicKey: string): string {
  return `v=DKIM1; k=${algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'}; p=${publicKey}`
}

/** The `p=` of such a record, without the blanks it may be folded with; undefined where there is none. */
export function publicKeyIn(record: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1]?.replace(/\s+/g, '')
}

/** The record of a key that is no longer to be trusted: p= is empty. */
export function revokedDkimRecord(algorithm: DkimAlgorithm): string {
  return dkimRecord(algorithm, '')
}

/**
 * Reads a private key once, so that signing need not: reading it anew costs more than the signature.
 *
 * @param der PKCS#8
 * @throws when it is no such key, or does not fit the algorithm
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

/** @param publicKey as it stands in p=, see `DkimKeyPair` */
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
