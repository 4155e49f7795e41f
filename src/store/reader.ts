/** What a thread that reads the store is given. */
import type { BlobFiles } from './blobs/blobs.ts'
import type { Find, ReadTogether, Snapshot } from './read.ts'
import type { Db } from './schema.ts'

/** The reading half of a store, for one thread. */
export interface Reader {
  /** Every statement sees the last commit. To be destroyed at the end. */
  db: Db
  find: Find
  readTogether: ReadTogether
  snapshot: Snapshot
  blobs: BlobFiles
}
