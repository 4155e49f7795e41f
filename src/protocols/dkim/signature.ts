/** Signs messages: the last step before a message is handed to the SMTP client (RFC 6376 §3.5, §3.7). */
import { hash as digest, type KeyObject, verify } from 'node:crypto'
import type { HeaderField } from '../smtp/header-field.ts'
import { type DkimAlgorithm, loadPublicKey, type SignerIdentity, type SigningKey } from './keys.ts'
import { type Sign, signAtOnce, signHere } from './sign.ts'
import {
  fill,
  LINE_CHARACTERS,
  relaxedField,
  type SignedFields,
  selectSignedFields,
} from './signed-fields.ts'

export interface Signature {
  /** The DKIM-Signature field, to be put above the fields that it signs. */
  field: HeaderField
  /** The bare signature, from which `signatureField` makes the same field again. */
  base64: string
  /** SHA-256 of what it was made over, base64; worked out when it is asked for. */
  digest(): string
}

/** What is known of a signature that was made before. */
interface KnownSignature {
  base64: string
  /** What it was made over, where this process has made it. */
  digest?: string | undefined
}

const FIELD_NAME = 'DKIM-Signature'
const CANONICAL_NAME = FIELD_NAME.toLowerCase()

/**
 * Relaxed/relaxed signatures over the whole body, one a key, in the keys' order.
 *
 * @param hash of the body, from `bodyHash`
 * @param signedAt epoch ms; the t= tag has seconds
 */
export async function signMessage<K extends SigningKey>(
  fields: readonly HeaderField[],
  hash: string,
  keys: readonly K[],
  signedAt: number,
  sign: Sign = signHere,
): Promise<(Signature & { key: K })[]> {
  const signed = selectSignedFields(fields)
  return Promise.all(
    keys.map(async key => {
      const unsigned = unsignedValue(signed, hash, key, signedAt)
      const input = inputOf(signed, unsigned)
      const base64 = await sign(input, key)
      const field = withSignature(unsigned, base64)
      return { key, field, base64, digest: () => digest('sha256', input, 'base64') }
    }),
  )
}

/**
 * The fields that `signMessage` made, from what was kept of them. To prove a signature by RSA costs a tenth
 * of making it, to compare what one was made over next to nothing.
 *
 * @param known in the keys' order
 * @returns undefined when they do not hold over these fields and this body
 */
export function signedBefore(
  fields: readonly HeaderField[],
  hash: string,
  keys: readonly SigningKey[],
  signedAt: number,
  known: readonly KnownSignature[],
): HeaderField[] | undefined {
  const signed = selectSignedFields(fields)
  const made: HeaderField[] = []
  for (const [i, key] of keys.entries()) {
    const unsigned = unsignedValue(signed, hash, key, signedAt)
    if (!isOurs(inputOf(signed, unsigned), key, known[i]!)) return undefined
    made.push(withSignature(unsigned, known[i]!.base64))
  }
  return made
}

/**
 * Ed25519 gives the same signature each time (RFC 8032 §5.1.6), and to make it costs a third of proving it.
 */
function isOurs(input: string, key: SigningKey, { base64, digest: known }: KnownSignature): boolean {
  if (known !== undefined) return known === digest('sha256', input, 'base64')
  return key.algorithm === 'ed25519-sha256'
    ? signAtOnce(input, key) === base64
    : holdsOver(input, key.algorithm, key.publicKey, base64)
}

/** The field that `signMessage` made, built again without the key from what was kept of it. */
export function signatureField(
  fields: readonly HeaderField[],
  hash: string,
  identity: SignerIdentity,
  signedAt: number,
  base64: string,
): HeaderField {
  return withSignature(unsignedValue(selectSignedFields(fields), hash, identity, signedAt), base64)
}

/**
 * Whether that field holds over these fields and this body, as a receiver would find it.
 * @param publicKey as it stands in p=
 */
export function signatureHolds(
  fields: readonly HeaderField[],
  hash: string,
  identity: SignerIdentity & { publicKey: string },
  signedAt: number,
  base64: string,
): boolean {
  const signed = selectSignedFields(fields)
  const unsigned = unsignedValue(signed, hash, identity, signedAt)
  return holdsOver(inputOf(signed, unsigned), identity.algorithm, loadPublicKey(identity), base64)
}

/** What the signature is made over, in UTF-8. */
function inputOf({ canonical }: SignedFields, unsigned: string): string {
  return canonical + relaxedField(CANONICAL_NAME, unsigned)
}

function holdsOver(input: string, algorithm: DkimAlgorithm, key: KeyObject, base64: string): boolean {
  const bytes = Buffer.from(base64, 'base64')
  return algorithm === 'rsa-sha256'
    ? verify('sha256', Buffer.from(input), key, bytes)
    : verify(null, digest('sha256', input, 'buffer'), key, bytes)
}

/** The value up to and with `b=`, folded. */
function unsignedValue(
  { namesTag }: SignedFields,
  hash: string,
  { domain, selector, algorithm }: SignerIdentity,
  signedAt: number,
): string {
  const tags = [
    'v=1;',
    `a=${algorithm};`,
    'c=relaxed/relaxed;',
    `d=${domain};`,
    `s=${selector};`,
    `t=${Math.floor(signedAt / 1000)};`,
  ]
  return `${fill(tags, ' ', FIELD_NAME.length + 2)}\r\n ${namesTag}\r\n bh=${hash};\r\n b=`
}

function withSignature(unsigned: string, base64: string): HeaderField {
  let value = unsigned
  let room = LINE_CHARACTERS - ' b='.length
  for (let at = 0; at < base64.length; room = LINE_CHARACTERS - 1) {
    value += (at === 0 ? '' : '\r\n ') + base64.slice(at, at + room)
    at += room
  }
  return { name: FIELD_NAME, value }
}
