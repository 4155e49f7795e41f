/**
 * Deletes blob files that no row names. Crashes leave such files behind, and so do refused requests whose
 * files could not be deleted.
 */
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { Db } from '../../store/model/schema.ts'

/** Files per step. */
const FILES_PER_STEP = 50

export async function* sweepFiles({ db, blobs }: { db: Db; blobs: BlobFiles }): AsyncGenerator<void> {
  let looked = 0
  for await (const names of blobs.names())
    for (const name of names) {
      await blobs.discard(db, name)
      if (++looked % FILES_PER_STEP === 0) yield
    }
}
