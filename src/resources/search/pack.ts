/** Seals emails into index blocks on the query worker, apart from the path of acceptance. */
import type { Id } from '../../lib/ids.ts'
import { command, type Run } from '../../store/model/command.ts'
import type { Db, EmailRow } from '../../store/model/schema.ts'
import { BLOCK_EMAILS, type NewIndexBlock } from '../../store/model/search-index.ts'
import { encodedLength, encodeOrdinals } from './bits.ts'
import { detailsOf, FACET_COLUMNS, type FacetSource, foldSubject, termsOf } from './facets.ts'
import { type IndexPart, listParts } from './parts.ts'
import { packTexts } from './texts.ts'

export const sealCommands = {
  /** Returns false if the emails in the range have changed, so that the block is not valid. */
  sealBlock: command<NewIndexBlock, boolean>((tx, block) => tx.indexBlocks.seal(block)),
}

export interface Packer {
  /** Seals all emails of an account that can be sealed. */
  pack(accountId: Id): Promise<void>
}

interface PackerOptions {
  db: Db
  run: Run<typeof sealCommands>
  /** Called between blocks, to yield to queries. */
  pause(): Promise<void>
  /** Number of emails per block. */
  size?: number
  /**
   * Number of the newest emails of an account that are left out, since emails with lower ids may not be
   * committed yet.
   */
  leftOut?: number
}

export function createPacker({ db, run, pause, size = BLOCK_EMAILS, leftOut = 256 }: PackerOptions): Packer {
  /** Reads the oldest emails of a gap, one more than a block holds; of the open end only full blocks. */
  const rowsToSeal = async (accountId: Id, { afterId, lastId }: IndexPart): Promise<SealedRow[]> => {
    const max = lastId ? size + 1 : size + leftOut
    let query = db
      .selectFrom('emails')
      .select(['createdAt', ...FACET_COLUMNS])
      .where('accountId', '=', accountId)
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(max)
    if (lastId) query = query.where('id', '<=', lastId)
    const rows = await query.execute()
    return lastId || rows.length === max ? rows : []
  }

  return {
    async pack(accountId) {
      const gaps = (await listParts(db, accountId)).filter(({ block }) => !block)
      for (const gap of gaps.toReversed())
        for (let part = gap; ; ) {
          await pause()
          const rows = await rowsToSeal(accountId, part)
          if (rows.length === 0) break
          const isRest = part.lastId !== null && rows.length <= size
          const emails = rows.slice(0, size)
          const lastId = isRest ? part.lastId! : emails.at(-1)!.id
          const isSealed = await run('sealBlock', blockOf(accountId, { ...part, lastId }, emails))
          if (!isSealed || isRest) break
          part = { ...part, afterId: lastId }
        }
    },
  }
}

type SealedRow = FacetSource & Pick<EmailRow, 'createdAt'>

/** @param rows every email of the range, sorted by id */
function blockOf(
  accountId: Id,
  { afterId, lastId }: { afterId: Id; lastId: Id },
  rows: readonly SealedRow[],
): NewIndexBlock {
  const having = new Map<string, number[]>()
  for (const [ordinal, row] of rows.entries())
    for (const term of termsOf(row)) {
      const known = having.get(term)
      if (known) known.push(ordinal)
      else having.set(term, [ordinal])
    }
  const terms = [...having.keys()].sort()
  const times = rows.map(({ createdAt }) => createdAt)
  return {
    accountId,
    afterId,
    lastId,
    earliestAt: Math.min(...times),
    latestAt: Math.max(...times),
    ids: Buffer.concat(rows.map(({ id }) => id)),
    subjects: packTexts(rows.map(({ subject }) => foldSubject(subject))),
    details: packTexts(rows.map(detailsOf)),
    terms,
    ordinals: encodeAll(
      terms.map(term => having.get(term)!),
      rows.length,
    ),
  }
}

/** All lists share one buffer, which is transferred to the writer. */
function encodeAll(lists: readonly (readonly number[])[], size: number): Uint8Array[] {
  const lengths = lists.map(({ length }) => encodedLength(length, size))
  const memory = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  return lists.map((ordinals, i) => {
    const own = memory.subarray(at, at + lengths[i]!)
    at += lengths[i]!
    encodeOrdinals(ordinals, own)
    return own
  })
}
