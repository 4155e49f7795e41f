/** Ready-made DKIM keys, because making an RSA key takes a good part of a second. */
import type { GenerateKey } from '../../src/resources/domains/domains.ts'
import stored from './keys/dkim.json' with { type: 'json' }

/** Hands out the same keys again and again. */
export function readyKeys(): GenerateKey {
  let made = 0
  return async algorithm => {
    const pairs = algorithm === 'rsa-sha256' ? stored.rsa : stored.ed25519
    const { privateKey, publicKey } = pairs[made++ % pairs.length]!
    return { privateKey: Buffer.from(privateKey, 'base64'), publicKey }
  }
}
