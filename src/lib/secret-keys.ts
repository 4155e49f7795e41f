/**
 * Derives all keys from the installation secret: the encryption key for stored secrets, and one signing key
 * per purpose.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** Purpose of a signed token or a keyed hash. A token of one purpose is invalid for every other. */
export type TokenPurpose =
  | 'verp'
  | 'correlation'
  | 'download'
  | 'share'
  | 'unsubscribe'
  | 'tracking'
  | 'link-host'
  | 'sign-in-place'

export interface SecretKeys {
  /**
   * Encrypts with AES-256-GCM. The box contains a version, a nonce (12 bytes), a tag (16 bytes) and the
   * ciphertext. `open` needs the same `context`.
   */
  seal(plain: Uint8Array, context: string): Uint8Array
  /** @throws when the box was altered, or was sealed under another key or context */
  open(box: Uint8Array, context: string): Buffer
  /** Returns the HMAC-SHA-256 of `message` under the key of the purpose, 32 bytes. */
  mac(purpose: TokenPurpose, message: Uint8Array | string): Buffer
  /**
   * Encrypts with AES-256-CTR. The initial counter is a MAC of the plaintext (16 bytes), so equal plaintexts
   * have equal results.
   */
  wrap(purpose: TokenPurpose, plain: Uint8Array): Buffer
  /** @returns undefined when the box was not made by `wrap` for this purpose */
  unwrap(purpose: TokenPurpose, box: Uint8Array): Buffer | undefined
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PROOF_BYTES = 16
/** Minimum length of the installation secret. */
export const SECRET_BYTES_MIN = 16

/**
 * Creates the keys of an installation. Ciphers get `KeyObject`s, because creating one from bytes for each use
 * takes longer than encrypting a token.
 *
 * @param master the installation secret, at least `SECRET_BYTES_MIN` bytes
 */
export function createSecretKeys(master: Uint8Array): SecretKeys {
  if (master.length < SECRET_BYTES_MIN)
    throw new Error(`the secret key must have at least ${SECRET_BYTES_MIN} bytes`)
  const derive = (info: string) => Buffer.from(hkdfSync('sha256', master, 'mailhorn', info, 32))
  const boxKey = createSecretKey(derive(`box/${VERSION}`))
  const macs = new Map<TokenPurpose, Mac>()
  const macFor = (purpose: TokenPurpose) => {
    const known = macs.get(purpose)
    if (known) return known
    const mac = createMac(derive(`mac/${VERSION}/${purpose}`))
    macs.set(purpose, mac)
    return mac
  }
  const proofOf = (purpose: TokenPurpose, plain: Uint8Array) =>
    macFor(purpose)(Buffer.concat([WRAPPED, plain])).subarray(0, PROOF_BYTES)
  const wrapKeys = new Map<TokenPurpose, WrapKey>()
  const wrapKey = (purpose: TokenPurpose) => {
    const known = wrapKeys.get(purpose)
    if (known) return known
    const key = createSecretKey(derive(`wrap/${VERSION}/${purpose}`))
    const made = { key, streamFrom: createKeystream(key) }
    wrapKeys.set(purpose, made)
    return made
  }
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', boxKey, nonce).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body])
    },
    open(box, context) {
      if (box[0] !== VERSION) throw new Error(`sealed by an unknown version: ${box[0]}`)
      const tagAt = 1 + NONCE_BYTES
      const decipher = createDecipheriv('aes-256-gcm', boxKey, box.subarray(1, tagAt))
        .setAAD(Buffer.from(context))
        .setAuthTag(box.subarray(tagAt, tagAt + TAG_BYTES))
      return Buffer.concat([decipher.update(box.subarray(tagAt + TAG_BYTES)), decipher.final()])
    },
    mac: (purpose, message) => macFor(purpose)(typeof message === 'string' ? Buffer.from(message) : message),
    wrap(purpose, plain) {
      const proof = proofOf(purpose, plain)
      const stream = wrapKey(purpose).streamFrom(proof, plain.length)
      const box = Buffer.allocUnsafe(PROOF_BYTES + plain.length)
      box.set(proof)
      for (let i = 0; i < plain.length; i++) box[PROOF_BYTES + i] = plain[i]! ^ stream[i]!
      return box
    },
    unwrap(purpose, box) {
      if (box.length <= PROOF_BYTES) return undefined
      const proof = box.subarray(0, PROOF_BYTES)
      const decipher = createDecipheriv('aes-256-ctr', wrapKey(purpose).key, proof)
      const plain = Buffer.concat([decipher.update(box.subarray(PROOF_BYTES)), decipher.final()])
      return equalBytes(proof, proofOf(purpose, plain)) ? plain : undefined
    },
  }
}

interface WrapKey {
  key: KeyObject
  streamFrom: Keystream
}

type Keystream = (first: Uint8Array, bytes: number) => Uint8Array

const CIPHER_BLOCK_BYTES = 16

/**
 * Creates the keystream of CTR mode (NIST SP 800-38A §6.5): the counter, from its first value on, encrypted
 * block by block. All texts share one cipher object; one cipher object per text costs three times as much.
 *
 * @returns the keystream, valid until the next call, in whole blocks, so it may be longer than requested
 */
function createKeystream(key: KeyObject): Keystream {
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  return (first, bytes) => {
    const counters = Buffer.allocUnsafe(Math.ceil(bytes / CIPHER_BLOCK_BYTES) * CIPHER_BLOCK_BYTES)
    const counter = Uint8Array.from(first)
    for (let at = 0; at < counters.length; at += CIPHER_BLOCK_BYTES) {
      counters.set(counter, at)
      increment(counter)
    }
    return cipher.update(counters)
  }
}

/** Increments the counter, a big-endian number. */
function increment(counter: Uint8Array): void {
  for (let at = counter.length - 1; at >= 0; at--) {
    counter[at]!++
    if (counter[at] !== 0) return
  }
}

type Mac = (message: Uint8Array) => Buffer

/** Separates the MACs of wrapped texts from other uses of the key. */
const WRAPPED = Buffer.from('wrapped ')

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32

/**
 * Computes HMAC-SHA-256 (RFC 2104) as its two hashes. Several tokens are made for every message, and an
 * `Hmac` object of the runtime costs four times as much. The hashes are requested as text, because each
 * buffer from the runtime is a separate allocation.
 */
function createMac(key: Buffer): Mac {
  const inner = Buffer.alloc(BLOCK_BYTES, 0x36)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)
  for (const [i, byte] of key.entries()) {
    inner[i]! ^= byte
    outer[i]! ^= byte
  }
  return message => {
    outer.write(hash('sha256', Buffer.concat([inner, message]), 'binary'), BLOCK_BYTES, 'binary')
    return Buffer.from(hash('sha256', outer, 'binary'), 'binary')
  }
}

/** Compares in constant time. Arrays of different lengths are unequal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
