/**
 * Returns free pages to the file system (incremental vacuum), a few at a time, since writers wait meanwhile.
 */
import type { SqliteConnection } from './connection.ts'

/** Of 4 KiB: every one given back has another moved into its place, and a commit follows. */
const PAGES_AT_ONCE = 128
/** One of so many stays free, for the mail that comes next: what is given back must be asked for again. */
const FREE_SHARE = 16

/** False when there was nothing to be given back. */
export function giveSpaceBack(connection: SqliteConnection): boolean {
  const pagesOf = (pragma: string) => connection.raw.pragma(pragma, { simple: true }) as number
  const spare = pagesOf('freelist_count') - Math.ceil(pagesOf('page_count') / FREE_SHARE)
  if (spare <= 0) return false
  connection.raw.pragma(`incremental_vacuum(${Math.min(spare, PAGES_AT_ONCE)})`)
  return true
}
