/** Signatures that were made before their message is sent: while its site rests. They are lost with the thread, which costs nothing but time. */
import { idKey } from '../../lib/ids.ts'
import type { DeliveryRef } from '../../smtp/verp.ts'

/** As a delivery keeps them. */
export interface MadeSignatures {
  /** Epoch ms, the `t=` of all. */
  signedAt: number
  /** JSON, see `StoredSignature`. */
  signatures: string
  /** What each was made over, where this process has made them; see `Signature`. */
  digests?: string[]
}

export interface KeptSignatures {
  /** False when there is no room. */
  put(ref: DeliveryRef, made: MadeSignatures): boolean
  has(ref: DeliveryRef): boolean
  take(ref: DeliveryRef): MadeSignatures | undefined
}

/** About 900 bytes each. */
const MOST_KEPT = 20_000
/** Older ones make room: their mail is perhaps canceled or held. */
const OLD_AFTER_MS = 3_600_000

export function createKeptSignatures(most = MOST_KEPT): KeptSignatures {
  /** The oldest come first. */
  const kept = new Map<string, MadeSignatures>()
  return {
    put(ref, made) {
      if (kept.size >= most) {
        const [oldest, { signedAt }] = kept.entries().next().value!
        if (made.signedAt - signedAt < OLD_AFTER_MS) return false
        kept.delete(oldest)
      }
      kept.set(keyOf(ref), made)
      return true
    },
    has: ref => kept.has(keyOf(ref)),
    take(ref) {
      const key = keyOf(ref)
      const made = kept.get(key)
      kept.delete(key)
      return made
    },
  }
}

function keyOf({ emailId, ordinal }: DeliveryRef): string {
  return `${idKey(emailId)} ${ordinal}`
}
