/**
 * Returns free pages to the file system by incremental vacuum, a few at a time, because writers wait
 * meanwhile.
 */
import type { SqliteConnection } from './connection.ts'

/** Pages of 4 KiB per step. Each returned page is replaced by moving another one, and a commit follows. */
const PAGES_PER_STEP = 128
/** One page in this many stays free for the next mail, since returned pages must be requested again. */
const FREE_SHARE = 16

/** @returns false when there was nothing to return */
export function giveSpaceBack(connection: SqliteConnection): boolean {
  const pagesOf = (pragma: string) => connection.raw.pragma(pragma, { simple: true }) as number
  const spare = pagesOf('freelist_count') - Math.ceil(pagesOf('page_count') / FREE_SHARE)
  if (spare <= 0) return false
  connection.raw.pragma(`incremental_vacuum(${Math.min(spare, PAGES_PER_STEP)})`)
  return true
}
