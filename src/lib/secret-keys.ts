/** Everything secret is derived from one installation key: the box for stored secrets, and one signing key per purpose. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** What a signed token is for. A token of one purpose is worthless for any other. */
export type TokenPurpose = 'verp' | 'correlation' | 'download' | 'share' | 'unsubscribe' | 'tracking'

export interface SecretKeys {
  /** Encrypts with AES-256-GCM: version, nonce (12), tag (16), ciphertext. `context` must be given again to open. */
  seal(plain: Uint8Array, context: string): Uint8Array
  /** @throws when the box was altered, or sealed under another key or context */
  open(box: Uint8Array, context: string): Buffer
  /** HMAC-SHA-256 of `message` under the purpose's own key. 32 bytes. */
  mac(purpose: TokenPurpose, message: Uint8Array | string): Buffer
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** @param master the installation's secret, at least 16 bytes */
export function createSecretKeys(master: Uint8Array): SecretKeys {
  if (master.length < 16) throw new Error('the secret key must have at least 16 bytes')
  const derive = (info: string) => Buffer.from(hkdfSync('sha256', master, 'posthorn', info, 32))
  const boxKey = derive(`box/${VERSION}`)
  const macKeys = new Map<TokenPurpose, Buffer>()
  const macKey = (purpose: TokenPurpose) => {
    const known = macKeys.get(purpose)
    if (known) return known
    const key = derive(`mac/${VERSION}/${purpose}`)
    macKeys.set(purpose, key)
    return key
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
    mac: (purpose, message) => createHmac('sha256', macKey(purpose)).update(message).digest(),
  }
}

/** Compares in constant time; different lengths are simply unequal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
