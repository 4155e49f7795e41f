/**
 * Goes through all accounts and has mail deleted that is beyond their horizons, with the files that only it
 * needed.
 */
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { Beyond, Deleted } from './commands.ts'
import { type HorizonsOptions, horizons } from './horizons.ts'

export interface BeyondSweeperOptions extends HorizonsOptions {
  blobs: BlobFiles
}

/** One kind of mail. */
interface Kind {
  hasAny(beyond: Beyond): Promise<boolean>
  /** Some of it, in one command. */
  delete(beyond: Beyond): Promise<Pick<Deleted, 'more' | 'unusedFiles'>>
}

/**
 * Rows go first, then the files they named: a file that is left over by a kill is found by the sweeper of
 * files.
 */
export async function* sweepBeyond(options: BeyondSweeperOptions, kind: Kind): AsyncGenerator<void> {
  const { db, blobs } = options
  for await (const accounts of horizons(options)) {
    for (const beyond of accounts)
      for (let more = await kind.hasAny(beyond); more; yield) {
        const deleted = await kind.delete(beyond)
        for (const name of deleted.unusedFiles) await blobs.discard(db, name)
        more = deleted.more
      }
    yield
  }
}
