/**
 * Exports all emails that match a filter, in batches. Each batch has its own snapshot, so that no snapshot is
 * held for long.
 */
import type { Id } from '../../lib/ids.ts'
import type { Db } from '../../store/model/schema.ts'
import { ID_BYTES, idAt } from '../../store/model/search-index.ts'
import type { EmailFilter, Scope } from './facets.ts'
import { type ListedEmail, readRows } from './list.ts'
import { findMatches, queryOf } from './matches.ts'
import { type IndexPart, isBefore, listParts, type SearchSources } from './parts.ts'

export interface Batch {
  /** Newest first. A batch may be empty before the end. */
  emails: ListedEmail[]
  /** Greatest id of the next batch; null at the end. */
  next: Id | null
}

const SIZES = {
  emails: 1_000,
  /** Limit for the parts of a batch, so that a search with few results does not delay other queries. */
  parts: 64,
  /** Number of emails in a gap that are searched as one part. */
  slice: 1_000,
}

/**
 * Is called in a snapshot.
 * @param from greatest id of the batch; null for no limit
 */
export async function readExportBatch(
  reads: SearchSources,
  scope: Scope,
  filter: EmailFilter,
  from: Id | null,
  sizes = SIZES,
): Promise<Batch> {
  const query = await queryOf(reads.db, scope, filter)
  const ids: Id[] = []
  let partCount = 0
  for await (const part of partsFrom(reads.db, scope.accountId, from, sizes.slice)) {
    const [found] = await findMatches(reads, scope, query, [part])
    const inPart = found && found.count > 0 ? await found.ids() : Buffer.alloc(0)
    for (let i = inPart.length / ID_BYTES - 1; i >= 0; i--) {
      const id = idAt(inPart, i)
      if (from && isBefore(from, id)) continue
      ids.push(id)
      if (ids.length === sizes.emails) return batch(reads.db, scope, ids, idBelow(id))
    }
    if (++partCount === sizes.parts) return batch(reads.db, scope, ids, part.afterId)
  }
  return batch(reads.db, scope, ids, null)
}

async function batch(db: Db, { accountId }: Scope, ids: readonly Id[], next: Id | null): Promise<Batch> {
  return { emails: await readRows(db, accountId, ids), next }
}

/** Lists parts, newest first, with gaps split into slices. */
async function* partsFrom(db: Db, accountId: Id, from: Id | null, slice: number): AsyncGenerator<IndexPart> {
  for (const part of await listParts(db, accountId)) {
    if (from && !isBefore(part.afterId, from)) continue
    if (part.block) yield part
    else yield* slicesOf(db, accountId, part, from, slice)
  }
}

async function* slicesOf(
  db: Db,
  accountId: Id,
  { afterId, lastId }: IndexPart,
  from: Id | null,
  slice: number,
): AsyncGenerator<IndexPart> {
  let to = from && (lastId === null || isBefore(from, lastId)) ? from : lastId
  for (;;) {
    let query = db
      .selectFrom('emails')
      .select('id')
      .where('accountId', '=', accountId)
      .where('id', '>', afterId)
      .orderBy('id', 'desc')
      .limit(1)
      .offset(slice)
    if (to) query = query.where('id', '<=', to)
    const edge = (await query.executeTakeFirst())?.id ?? afterId
    yield { afterId: edge, lastId: to }
    if (edge === afterId) return
    to = edge
  }
}

/** @returns the next lower id */
export function idBelow(id: Id): Id {
  const below = new Uint8Array(id)
  for (let i = below.length - 1; i >= 0; i--) if (below[i]!-- > 0) break
  return below
}
