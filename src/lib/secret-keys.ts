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

/** What a signed token or a keyed hash is for. One of one purpose is worthless for any other. */
type TokenPurpose =
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
   * Encrypts with AES-256-GCM: version, nonce (12), tag (16), ciphertext. `context` must be given again to
   * open.
   */
  seal(plain: Uint8Array, context: string): Uint8Array
  /** @throws when the box was altered, or sealed under another key or context */
  open(box: Uint8Array, context: string): Buffer
  /** HMAC-SHA-256 of `message` under the purpose's own key. 32 bytes. */
  mac(purpose: TokenPurpose, message: Uint8Array | string): Buffer
  /** Encrypts with AES-256-CTR from a proof of what is encrypted (16 bytes): the same gives the same. */
  wrap(purpose: TokenPurpose, plain: Uint8Array): Buffer
  /** Undefined for what was not wrapped so. */
  unwrap(purpose: TokenPurpose, box: Uint8Array): Buffer | undefined
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PROOF_BYTES = 16

/**
 * Ciphers get their keys as objects: one made of bytes for each use costs more than to encrypt a token.
 *
 * @param master the installation's secret, at least 16 bytes
 */
export function createSecretKeys(master: Uint8Array): SecretKeys {
  if (master.length < 16) throw new Error('the secret key must have at least 16 bytes')
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
 * What CTR combines with a text (NIST SP 800-38A §6.5): the counter from its first value on, encrypted block
 * by block. One cipher does for all, where an object of the runtime's for each text costs three times as
 * much.
 *
 * @returns good until the next call; whole blocks, so it may be longer
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

/** As one number, the last byte the lowest. */
function increment(counter: Uint8Array): void {
  for (let at = counter.length - 1; at >= 0; at--) {
    counter[at]!++
    if (counter[at] !== 0) return
  }
}

type Mac = (message: Uint8Array) => Buffer

/** Keeps proofs of what is wrapped apart from other uses of the purpose's key. */
const WRAPPED = Buffer.from('wrapped ')

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32

/**
 * HMAC-SHA-256 (RFC 2104) as its two hashes: several tokens are made for every message, and an object of the
 * runtime's costs four times as much. Hashes come as text, since each buffer of the runtime's is memory of
 * its own.
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

/** Compares in constant time; different lengths are simply unequal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
