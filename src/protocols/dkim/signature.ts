/**
 * Makes and verifies DKIM-Signature fields (RFC 6376 §3.5, §3.7). In: header fields, body hash and keys. Out:
 * one signature field per key. The delivery runner calls it as the last step before SMTP; the raw-message
 * view calls it to rebuild and verify a signature.
 */
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
  /** The DKIM-Signature field. It is put above the fields that it covers. */
  field: HeaderField
  /** The signature without its field. `signatureField` makes the same field from it again. */
  base64: string
  /** SHA-256 of the signed input in base64, computed on demand. */
  digest(): string
}

/** The stored parts of a signature that was made before. */
interface KnownSignature {
  base64: string
  /** SHA-256 of the signed input, if this process made the signature. */
  digest?: string | undefined
}

const FIELD_NAME = 'DKIM-Signature'
const CANONICAL_NAME = FIELD_NAME.toLowerCase()

/**
 * Makes relaxed/relaxed signatures over the whole body, one per key, in the order of the keys.
 *
 * @param hash body hash, from `bodyHash`
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
 * Rebuilds the fields that `signMessage` made from the stored signatures. Verifying an RSA signature costs a
 * tenth of making one; comparing digests costs next to nothing.
 *
 * @param known in the order of the keys
 * @returns undefined if a signature does not hold over these fields and this body
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

/** Ed25519 signatures are deterministic (RFC 8032 §5.1.6), and making one costs a third of verifying it. */
function isOurs(input: string, key: SigningKey, { base64, digest: known }: KnownSignature): boolean {
  if (known !== undefined) return known === digest('sha256', input, 'base64')
  return key.algorithm === 'ed25519-sha256'
    ? signAtOnce(input, key) === base64
    : holdsOver(input, key.algorithm, key.publicKey, base64)
}

/** Rebuilds the field that `signMessage` made, without the private key. */
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
 * Verifies that a rebuilt field holds over these fields and this body, as a receiver would.
 * @param publicKey base64 as in p=
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

/** @returns the input of the signature, in UTF-8 */
function inputOf({ canonical }: SignedFields, unsigned: string): string {
  return canonical + relaxedField(CANONICAL_NAME, unsigned)
}

function holdsOver(input: string, algorithm: DkimAlgorithm, key: KeyObject, base64: string): boolean {
  const bytes = Buffer.from(base64, 'base64')
  return algorithm === 'rsa-sha256'
    ? verify('sha256', Buffer.from(input), key, bytes)
    : verify(null, digest('sha256', input, 'buffer'), key, bytes)
}

/** @returns the folded value up to and including `b=` */
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
