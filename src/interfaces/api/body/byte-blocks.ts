/**
 * Bytes gathered in memory of their own, which can be handed to another thread; in blocks, so that none is
 * moved twice.
 */

export interface ByteBlocks {
  add(bytes: Uint8Array): void
  /** All of them, in their order. Nothing may be added any more. */
  end(): Uint8Array<ArrayBuffer>[]
}

const BLOCK_BYTES = 1024 * 1024

export function createByteBlocks(): ByteBlocks {
  const full: Uint8Array<ArrayBuffer>[] = []
  let block = new Uint8Array(BLOCK_BYTES)
  let used = 0
  return {
    add(bytes) {
      for (let at = 0; at < bytes.length; ) {
        if (used === block.length) {
          full.push(block)
          block = new Uint8Array(BLOCK_BYTES)
          used = 0
        }
        const piece = bytes.subarray(at, at + block.length - used)
        block.set(piece, used)
        used += piece.length
        at += piece.length
      }
    },
    end: () => [...full, block.subarray(0, used)],
  }
}
