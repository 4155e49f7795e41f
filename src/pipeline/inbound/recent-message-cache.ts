/**
 * Keeps the bytes of just received messages in memory, so that the inbound processor need not read them from
 * the store.
 */
import type { Clock } from '../../lib/clock.ts'
import { blobName, type StagedBlob } from '../../store/blobs/staged.ts'

export interface RecentMessageCache {
  /** Keeps the bytes if there is room. Older entries are not evicted for it, since they are read sooner. */
  keep(blob: Pick<StagedBlob, 'hash' | 'body'>): void
  /** Removes and returns the bytes; undefined when the message must be read from the store. */
  take(hash: Uint8Array): Uint8Array | undefined
}

const CACHE_BYTES_MAX = 8 * 1024 * 1024
/** An entry of this age was read by another process, or its message was not stored. */
const STALE_MS = 60_000

export function createRecentMessageCache(clock: Clock, maxBytes = CACHE_BYTES_MAX): RecentMessageCache {
  const messages = new Map<string, { bytes: Uint8Array; at: number }>()
  let heldBytes = 0
  const drop = (name: string) => {
    heldBytes -= messages.get(name)?.bytes.length ?? 0
    messages.delete(name)
  }
  const dropStale = (now: number) => {
    for (const [name, { at }] of messages) {
      if (now - at < STALE_MS) return
      drop(name)
    }
  }
  return {
    keep({ hash, body }) {
      const name = blobName(hash)
      const at = clock.monotonic()
      if (body !== null && heldBytes + body.length > maxBytes) dropStale(at)
      if (body === null || heldBytes + body.length > maxBytes || messages.has(name)) return
      messages.set(name, { bytes: body, at })
      heldBytes += body.length
    },
    take(hash) {
      const name = blobName(hash)
      const found = messages.get(name)?.bytes
      drop(name)
      return found
    },
  }
}
