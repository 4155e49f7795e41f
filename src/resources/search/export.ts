/**
 * All emails that a filter finds, in batches: each is read in a snapshot of its own, so that none is held for
 * long.
 */
import type { Id } from '../../lib/ids.ts'
import type { Db } from '../../store/schema.ts'
import { ID_BYTES, idAt } from '../../store/search-index.ts'
import type { EmailFilter, Scope } from './facets.ts'
import { type ListedEmail, readRows } from './list.ts'
import { findMatches } from './matches.ts'
import { type IndexPart, isBefore, listParts, type Reads } from './parts.ts'

export interface Batch {
  /** Newest first; may be empty before the end. */
  emails: ListedEmail[]
  /** The next batch goes on with this id and lesser ones; null at the end. */
  next: Id | null
}

const SIZES = {
  emails: 1_000,
  /** However few emails are found, nobody else waits for more than so many parts. */
  parts: 64,
  /** Emails of a gap that are looked at as one part. */
  slice: 1_000,
}

/** @param from the greatest id that may be in it; null for any. To be called in a snapshot */
export async function readExportBatch(
  reads: Reads,
  scope: Scope,
  filter: EmailFilter,
  from: Id | null,
  sizes = SIZES,
): Promise<Batch> {
  const ids: Id[] = []
  let partCount = 0
  for await (const part of partsFrom(reads.db, scope.accountId, from, sizes.slice)) {
    const [found] = await findMatches(reads, scope, filter, [part])
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

/** Newest first; gaps in slices. */
async function* partsFrom(db: Db, accountId: Id, from: Id | null, slice: number): AsyncGenerator<IndexPart> {
  for (const part of await listParts(db, accountId)) {
    if (from && !isBefore(part.afterId, from)) continue
    if (part.segment) yield part
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

/** The greatest id that is less. */
function idBelow(id: Id): Id {
  const below = new Uint8Array(id)
  for (let i = below.length - 1; i >= 0; i--) if (below[i]!-- > 0) break
  return below
}
