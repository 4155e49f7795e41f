/** Receives a blob in pieces: a small one stays in memory, a larger one is written to a draft file. */
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { inOwnMemory } from '../../lib/bytes.ts'
import type { Drafts } from './drafts.ts'
import { INLINE_BYTES_MAX, type StagedBlob, sha256 } from './staged.ts'

export interface BlobStream {
  /**
   * Adds a piece. Resolves when the next piece may be added.
   * @throws StorageUnavailable
   */
  write(piece: Uint8Array): Promise<void>
  finish(): Promise<StagedBlob>
  /** Deletes the draft. Called instead of `finish`, or after it has failed. */
  discard(): Promise<void>
}

export function createBlobStream(drafts: Drafts): BlobStream {
  let held: Uint8Array[] = []
  let sizeBytes = 0
  let draft: Awaited<ReturnType<Drafts['create']>> | undefined
  return {
    async write(piece) {
      sizeBytes += piece.length
      held.push(piece)
      if (sizeBytes <= INLINE_BYTES_MAX) return
      draft ??= await drafts.create()
      const pieces = held
      held = []
      await draft.append(pieces)
    },
    async finish() {
      if (!draft) {
        const body = inOwnMemory(held.length === 1 ? held[0]! : Buffer.concat(held))
        return { hash: sha256(body), sizeBytes, body, draft: null }
      }
      await draft.close()
      return { hash: await hashFile(draft.path), sizeBytes, body: null, draft: draft.name }
    },
    async discard() {
      if (!draft) return
      await draft.close()
      await drafts.discard(draft.name)
    },
  }
}

/** @returns SHA-256 of the file */
async function hashFile(path: string): Promise<Uint8Array> {
  const hash = createHash('sha256')
  const file = await open(path)
  for await (const piece of file.createReadStream()) hash.update(piece)
  return new Uint8Array(hash.digest())
}
