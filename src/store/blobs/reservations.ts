/**
 * Reference counts of blob files that requests in progress need. Files are named by their content, so several
 * requests may bring the same file: a rejected request deletes its file only if no other request has reserved
 * it and no row names it.
 */

import type { Db } from '../model/schema.ts'
import type { BlobFiles } from './blobs.ts'
import { blobName, type StagedBlob } from './staged.ts'

export interface BlobReservations {
  /** @param blobs the blobs staged for one request so far */
  open(blobs: readonly StagedBlob[]): BlobReservation
}

/** The staged blobs of one request. */
export interface BlobReservation {
  add(blob: StagedBlob): void
  /** Moves drafts to their final names, so that rows may refer to them. @throws StorageUnavailable */
  place(blobs: readonly StagedBlob[]): Promise<void>
  /**
   * Deletes files that are not needed. Never rejects.
   * @param isSettled whether the outcome of the request is known; otherwise placed files are kept
   */
  end(isSettled: boolean): Promise<void>
}

interface BlobReservationsOptions {
  blobs: BlobFiles
  db: Db
  /** Called when a file could not be deleted. */
  onLeftBehind(error: unknown): void
}

export function createBlobReservations({
  blobs: files,
  db,
  onLeftBehind,
}: BlobReservationsOptions): BlobReservations {
  const counts = new Map<string, number>()
  const change = (name: string, by: 1 | -1) => {
    const count = (counts.get(name) ?? 0) + by
    if (count === 0) counts.delete(name)
    else counts.set(name, count)
  }
  const released = async ({ hash }: StagedBlob, isSettled: boolean) => {
    const name = blobName(hash)
    change(name, -1)
    if (isSettled && !counts.has(name)) await files.remove(db, hash, () => counts.has(name))
  }

  return {
    open(blobs) {
      const drafts = new Map<string, StagedBlob>()
      const reserved: StagedBlob[] = []
      const add = (blob: StagedBlob) => {
        if (blob.draft !== null) drafts.set(blob.draft, blob)
      }
      blobs.forEach(add)
      return {
        add,
        async place(wanted) {
          for (const blob of new Set(wanted)) {
            if (blob.draft === null || !drafts.has(blob.draft)) continue
            change(blobName(blob.hash), 1)
            reserved.push(blob)
            await files.place(blob)
            drafts.delete(blob.draft)
          }
        },
        async end(isSettled) {
          const ends = [
            ...[...drafts.keys()].map(draft => files.drafts.discard(draft)),
            ...reserved.map(blob => released(blob, isSettled)),
          ]
          for (const { status, reason } of (await Promise.allSettled(ends)) as PromiseRejectedResult[])
            if (status === 'rejected') onLeftBehind(reason)
        },
      }
    },
  }
}
