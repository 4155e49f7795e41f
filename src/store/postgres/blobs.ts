/** Blobs in PostgreSQL: small ones in one row, large ones in pieces that are stored before that row. */
import { sql } from 'kysely'
import { type BlobFiles, findBlob, onePiece, rowOf, STAGED_FOR_MS, stagingIn } from '../blobs/blobs.ts'
import type { Drafts } from '../blobs/drafts.ts'
import { blobName } from '../blobs/staged.ts'
import type { Db } from '../model/schema.ts'
import type { PostgresPool, Result, SqlQuery } from './connection.ts'
import { kyselyOver } from './kysely.ts'

const PIECE_BYTES = 256 * 1024
const NAMES_PER_QUERY = 500
const MARK = `
  update blob_pieces set staged_at = greatest(staged_at + 1, $2) where hash = $1 and number = 0
  returning staged_at as "stagedAt"`
/** Inserts a piece. Another transaction that stores the same piece is waited for. */
const INSERT = `
  insert into blob_pieces (hash, number, staged_at, body) values ($1, $2, $3, $4)
  on conflict (hash, number) do update set staged_at = greatest(blob_pieces.staged_at + 1, excluded.staged_at)
  returning staged_at as "stagedAt"`

/**
 * @param drafts files of this machine, which become pieces when they are placed
 * @param now returns ms since the epoch; sets the time of staging, which the first piece holds
 */
export function createBlobRows(pool: PostgresPool, drafts: Drafts, now: () => number): BlobFiles {
  /** Times at which this process placed blobs that it has not removed since. */
  const placed = new Map<string, number>()
  const writing = <T>(work: (query: SqlQuery) => Promise<T>): Promise<T> =>
    pool.use(async ({ query }) => {
      await query({ sql: 'begin read write' })
      const result = await work(query)
      await query({ sql: 'commit' })
      return result
    })
  return {
    ...stagingIn(drafts),
    async place({ draft, hash }) {
      const pieces = () => drafts.pieces(draft!, PIECE_BYTES)
      const write = (query: SqlQuery) => writePieces(query, hash, pieces, now())
      placed.set(blobName(hash), await writing(write))
      await drafts.discard(draft!)
    },
    /** Removes pieces, unless another process has staged them since. */
    async remove(_, hash, isClaimed) {
      const stagedAt = placed.get(blobName(hash))
      if (isClaimed() || stagedAt === undefined) return
      placed.delete(blobName(hash))
      await writing(query => discard(query, hash, first => first === stagedAt && !isClaimed()))
    },
    async read(db, hash) {
      const { body, sizeBytes } = await rowOf(db, hash)
      if (body !== null) return Buffer.from(body)
      return Buffer.concat(await Array.fromAsync(piecesOf(db, hash, sizeBytes)))
    },
    async open(db, hash) {
      const { body, sizeBytes } = await rowOf(db, hash)
      if (body !== null) return { sizeBytes, content: onePiece(body) }
      if ((await bytesIn(db, hash)) !== sizeBytes) throw incomplete(hash)
      return { sizeBytes, content: piecesOf(db, hash, sizeBytes) }
    },
    discard: (_, name) =>
      writing(query =>
        discard(query, Buffer.from(name, 'hex'), stagedAt => stagedAt <= now() - STAGED_FOR_MS),
      ),
    async *names() {
      const db = kyselyOver(pool.query)
      for (let last: Uint8Array = new Uint8Array(0), more = true; more; ) {
        const rows = await db
          .selectFrom('blobPieces')
          .select('hash')
          .where('number', '=', 0)
          .where('hash', '>', last)
          .orderBy('hash')
          .limit(NAMES_PER_QUERY)
          .execute()
        yield rows.map(({ hash }) => blobName(hash))
        more = rows.length === NAMES_PER_QUERY
        last = rows.at(-1)?.hash ?? last
      }
    },
  }
}

/**
 * Writes all pieces or none. If they exist already, only their time of staging is updated.
 * @param pieces opens them; a stream that was opened and not read would keep its file open
 * @returns the time of staging, which differs for each caller that stages the same pieces
 */
export async function writePieces(
  query: SqlQuery,
  hash: Uint8Array,
  pieces: () => AsyncIterable<Uint8Array>,
  nowMs: number,
): Promise<number> {
  const stagedAt = ({ rows }: Result) => (rows as { stagedAt: number }[])[0]?.stagedAt
  const known = stagedAt(await query({ sql: MARK, values: [hash, nowMs] }))
  if (known !== undefined) return known
  let first = nowMs
  let number = 0
  for await (const piece of pieces()) {
    const values = [hash, number, nowMs, piece]
    const at = stagedAt(await query({ sql: INSERT, values }))!
    if (number++ === 0) first = at
  }
  return first
}

/**
 * Deletes pieces. Another transaction that stages the same bytes waits for the end of this one and stores
 * them again.
 */
async function discard(
  query: SqlQuery,
  hash: Uint8Array,
  mayGo: (stagedAt: number) => boolean,
): Promise<boolean> {
  const { rows } = await query({
    sql: 'select staged_at as "stagedAt" from blob_pieces where hash = $1 and number = 0 for update',
    values: [hash],
  })
  const first = (rows as { stagedAt: number }[])[0]
  if (!first || !mayGo(first.stagedAt) || (await findBlob(kyselyOver(query), hash))) return false
  await query({ sql: 'delete from blob_pieces where hash = $1', values: [hash] })
  return true
}

/**
 * Reads the pieces one at a time.
 * @throws when pieces are missing
 */
async function* piecesOf(db: Db, hash: Uint8Array, sizeBytes: number): AsyncGenerator<Uint8Array> {
  let left = sizeBytes
  for (let number = 0; left > 0; number++) {
    const piece = await db
      .selectFrom('blobPieces')
      .select('body')
      .where('hash', '=', hash)
      .where('number', '=', number)
      .executeTakeFirst()
    if (!piece) throw incomplete(hash)
    left -= piece.body.length
    yield piece.body
  }
}

async function bytesIn(db: Db, hash: Uint8Array): Promise<number> {
  const { bytes } = await db
    .selectFrom('blobPieces')
    .select(sql<number>`coalesce(sum(octet_length(body)), 0)`.as('bytes'))
    .where('hash', '=', hash)
    .executeTakeFirstOrThrow()
  return bytes
}

function incomplete(hash: Uint8Array): Error {
  return new Error(`pieces of the blob ${blobName(hash)} are missing`)
}
