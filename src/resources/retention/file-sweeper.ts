/**
 * Finds files that no row names: what a kill has left over, and what could not be removed when its request
 * was refused.
 */
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { Db } from '../../store/schema.ts'

/** Looked at in one step. */
const FILES_AT_ONCE = 50

/** For a sweeper. */
export async function* sweepFiles({ db, blobs }: { db: Db; blobs: BlobFiles }): AsyncGenerator<void> {
  let looked = 0
  for await (const names of blobs.names())
    for (const name of names) {
      await blobs.discard(db, name)
      if (++looked % FILES_AT_ONCE === 0) yield
    }
}
