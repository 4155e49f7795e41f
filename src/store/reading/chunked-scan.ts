/**
 * Scans a long list of an account, newest first, in chunks. Between chunks the thread serves other queries,
 * so that a list with a million entries does not block it.
 */
import type { SelectQueryBuilder } from 'kysely'
import { type Id, idKey } from '../../lib/ids.ts'
import { cutFound, type ListPage } from './list-page.ts'

/** A list as queries over a table whose `id` column is in the order of creation. */
interface ScannedList<Q, C extends string> {
  entries(): Q
  /** Restricts the entries to those that match search and filters. */
  matching(entries: Q): Q
  /** Column that identifies an entry for the next read. */
  key: C
  /** Ids between which entries are scanned, both included. */
  range?: { oldest: Id; newest?: Id | undefined }
}

type KeyIn<C> = C extends 'id' ? Id : string

/** Entries per chunk, which take about 2 ms. */
const CHUNK_ENTRIES = 10_000

/**
 * @param isCounted whether the total is known, so that the scan ends when the page is full
 * @returns keys of the page, newest first; `matched` is the total, unless `isCounted`
 */
export async function scanInChunks<Q, C extends string>(
  listing: ScannedList<Q, C>,
  page: ListPage,
  isCounted: boolean,
): Promise<{ keys: KeyIn<C>[]; matched: number; hasMore: boolean }> {
  const { limit, offset, cursor } = page
  const walk = walkOf(listing, cursor?.side === 'newer' ? 'asc' : 'desc')
  const wanted = limit + 1
  const keys: KeyIn<C>[] = []
  let matched = 0
  let chunk: Chunk | undefined = { from: isCounted ? cursor?.id : undefined, to: undefined }
  while (chunk) {
    chunk.to = await walk.endOf(chunk, CHUNK_ENTRIES)
    const found: number = await walk.count(chunk)
    const skipped = cursor ? 0 : Math.max(0, offset - matched)
    if (found > skipped && keys.length < wanted)
      keys.push(...(await walk.read(chunk, cursor?.id, wanted - keys.length, skipped)))
    matched += found
    chunk = chunk.to && !(isCounted && keys.length === wanted) ? { from: chunk.to, to: undefined } : undefined
    if (chunk) await new Promise(setImmediate)
  }
  const { rows, hasMore } = cutFound(keys, page)
  return { keys: rows, matched, hasMore }
}

/** Entries after `from` up to and including `to`, in scan direction. */
interface Chunk {
  from: Id | undefined
  to: Id | undefined
}

/** Columns that every scanned table has. */
type Entries = SelectQueryBuilder<{ entries: { id: Id; [column: string]: unknown } }, 'entries', object>

function walkOf<Q, C extends string>(
  { entries, matching, key, range }: ScannedList<Q, C>,
  direction: 'asc' | 'desc',
) {
  const beyond = direction === 'desc' ? '<' : '>'
  const [atMost, upTo] = direction === 'desc' ? (['<=', '>='] as const) : (['>=', '<='] as const)
  const [start, end] = direction === 'desc' ? [range?.newest, range?.oldest] : [range?.oldest, range?.newest]
  /** Whether the scan has passed the start. A cursor may lie before it. */
  const isPast = (id: Id) =>
    !start || (direction === 'desc' ? idKey(id) <= idKey(start) : idKey(id) >= idKey(start))
  /** Sets one bound on each side: of two, SQLite seeks by the first, and would begin at the start again. */
  const within = ({ from, to = end }: Chunk): Entries => {
    let those = entries() as unknown as Entries
    if (from && isPast(from)) those = those.where('id', beyond, from)
    else if (start) those = those.where('id', atMost, start)
    return to ? those.where('id', upTo, to) : those
  }
  const matchingIn = (chunk: Chunk) => matching(within(chunk) as Q) as unknown as Entries
  return {
    /**
     * Returns the last entry of a chunk, or undefined when the chunk is the last one.
     * @param length number of entries per chunk
     */
    async endOf(chunk: Chunk, length: number): Promise<Id | undefined> {
      const those = within(chunk).select('id').orderBy('id', direction)
      const last = await those
        .limit(1)
        .offset(length - 1)
        .executeTakeFirst()
      return last?.id
    },
    /** Number of matching entries in the chunk. */
    async count(chunk: Chunk): Promise<number> {
      const those = matchingIn(chunk).select(eb => eb.fn.countAll<number>().as('count'))
      return Number((await those.executeTakeFirstOrThrow()).count)
    },
    /** Keys of matching entries after the cursor. */
    async read(chunk: Chunk, cursor: Id | undefined, limit: number, offset: number): Promise<KeyIn<C>[]> {
      let those = matchingIn(chunk).select(key).orderBy('id', direction)
      if (cursor) those = those.where('id', beyond, cursor)
      const found = await those.limit(limit).offset(offset).execute()
      return found.map(entry => (entry as Record<string, unknown>)[key] as KeyIn<C>)
    },
  }
}
