/**
 * Cache of signatures that were made while the destination of their message was paused. The cache is lost
 * with the thread; the messages are then signed again.
 */
import { idKey, parseWireId, wireId } from '../../../lib/ids.ts'
import type { DeliveryRef } from '../../../protocols/smtp/verp.ts'
import type { MadeSignatures, StoredSignature } from './signed-head.ts'

interface SignatureCache {
  hasRoom(now: number): boolean
  /** Replaces the oldest entry when the cache is full. */
  put(ref: DeliveryRef, made: Required<MadeSignatures>): void
  has(ref: DeliveryRef): boolean
  take(ref: DeliveryRef): MadeSignatures | undefined
}

/** An entry takes about 500 bytes. */
const ENTRIES_MAX = 20_000
/** Older entries may be replaced, because their mail may have been canceled or held. */
const REPLACEABLE_AFTER_MS = 3_600_000

export function createSignatureCache(max = ENTRIES_MAX): SignatureCache {
  /** Packed signatures, oldest first. */
  const cache = new Map<string, string>()
  const oldest = () => cache.entries().next().value!
  return {
    hasRoom: now => cache.size < max || now - unpacked(oldest()[1]).signedAt >= REPLACEABLE_AFTER_MS,
    put(ref, made) {
      if (cache.size >= max) cache.delete(oldest()[0])
      cache.set(keyOf(ref), packedOf(made))
    },
    has: ref => cache.has(keyOf(ref)),
    take(ref) {
      const key = keyOf(ref)
      const packed = cache.get(key)
      if (packed === undefined) return undefined
      cache.delete(key)
      return unpacked(packed)
    },
  }
}

function keyOf({ emailId, ordinal }: DeliveryRef): string {
  return `${idKey(emailId)} ${ordinal}`
}

/**
 * Layout of a packed signature: the id of its key, the digest that was signed, the length of the signature,
 * and the signature.
 */
const KEY_OFFSET = 0
const DIGEST_OFFSET = 16
const LENGTH_OFFSET = 48
const SIGNATURE_OFFSET = 50

/** One character stands for one byte, which takes half the memory of arrays and strings. */
function packedOf({ signedAt, signatures, digests }: Required<MadeSignatures>): string {
  const time = Buffer.alloc(8)
  time.writeDoubleBE(signedAt)
  const entries = signatures.map(({ keyId, bytes: base64 }, i) => {
    const signature = Buffer.from(base64, 'base64')
    const entry = Buffer.alloc(SIGNATURE_OFFSET + signature.length)
    entry.set(parseWireId('key', keyId)!, KEY_OFFSET)
    entry.set(Buffer.from(digests[i]!, 'base64'), DIGEST_OFFSET)
    entry.writeUInt16BE(signature.length, LENGTH_OFFSET)
    entry.set(signature, SIGNATURE_OFFSET)
    return entry
  })
  return Buffer.concat([time, ...entries]).toString('latin1')
}

function unpacked(packed: string): Required<MadeSignatures> {
  const bytes = Buffer.from(packed, 'latin1')
  const signatures: StoredSignature[] = []
  const digests: string[] = []
  for (let at = 8; at < bytes.length; ) {
    const entry = bytes.subarray(at)
    const end = SIGNATURE_OFFSET + entry.readUInt16BE(LENGTH_OFFSET)
    const keyId = wireId('key', entry.subarray(KEY_OFFSET, DIGEST_OFFSET))
    signatures.push({ keyId, bytes: entry.toString('base64', SIGNATURE_OFFSET, end) })
    digests.push(entry.toString('base64', DIGEST_OFFSET, LENGTH_OFFSET))
    at += end
  }
  return { signedAt: bytes.readDoubleBE(0), signatures, digests }
}
