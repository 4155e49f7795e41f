/**
 * Walks a long list of an account, newest first. A million entries are no list to look through in one go: it is done in
 * stretches, between which whatever else is to be read gets its turn.
 */
import type { Id } from '../lib/ids.ts'
import { cutFound, type ListPage } from './list-page.ts'

/** Entries beyond `from` up to `to`, in the direction of the walk. */
export interface Stretch {
  from: Id | undefined
  to: Id | undefined
}

export type Direction = 'asc' | 'desc'

/** How one list is read, in a direction. */
export interface Walk<K> {
  /** The last entry of a stretch, or undefined when it is shorter than others. @param length entries of a stretch */
  endOf(stretch: Stretch, length: number): Promise<Id | undefined>
  /** Entries of the stretch that match. */
  count(stretch: Stretch): Promise<number>
  /** Keys of those beyond the cursor. */
  read(stretch: Stretch, cursor: Id | undefined, limit: number, offset: number): Promise<K[]>
}

/** About 2 ms of searching. */
const STRETCH_ENTRIES = 10_000

/**
 * @param isCounted how many there are in all is known: no more is walked than what is shown
 * @returns keys of the page, newest first; `matched` is how many there are in all, unless that is known
 */
export async function walkList<K>(
  walkOf: (direction: Direction) => Walk<K>,
  page: ListPage,
  isCounted: boolean,
): Promise<{ keys: K[]; matched: number; hasMore: boolean }> {
  const { limit, offset, cursor } = page
  const walk = walkOf(cursor?.side === 'newer' ? 'asc' : 'desc')
  const wanted = limit + 1
  const keys: K[] = []
  let matched = 0
  let stretch: Stretch | undefined = { from: isCounted ? cursor?.id : undefined, to: undefined }
  while (stretch) {
    stretch.to = await walk.endOf(stretch, STRETCH_ENTRIES)
    const found: number = await walk.count(stretch)
    const skipped = cursor ? 0 : Math.max(0, offset - matched)
    if (found > skipped && keys.length < wanted)
      keys.push(...(await walk.read(stretch, cursor?.id, wanted - keys.length, skipped)))
    matched += found
    stretch =
      stretch.to && !(isCounted && keys.length === wanted) ? { from: stretch.to, to: undefined } : undefined
    if (stretch) await new Promise(setImmediate)
  }
  const { rows, hasMore } = cutFound(keys, page)
  return { keys: rows, matched, hasMore }
}
