/**
 * Blob store addressed by SHA-256, for attachments and raw messages. Small blobs are rows; large ones are
 * files, which are synced together with their folder before the row that names them is committed.
 */
import { createReadStream } from 'node:fs'
import { readdir, readFile, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { Tx } from '../command.ts'
import type { BlobRow, Db } from '../schema.ts'
import { createDrafts, type Drafts } from './drafts.ts'
import { blobName, INLINE_BYTES_MAX, type StagedBlob, sha256 } from './staged.ts'
import { type BlobStream, createBlobStream } from './stream.ts'

export interface BlobFiles {
  /**
   * Gets bytes ready to be claimed: hashed, and written to a draft when they are large. @throws
   * StorageUnavailable
   */
  stage(bytes: Uint8Array): Promise<StagedBlob>
  /** The same for bytes that come piece by piece. */
  receive(): BlobStream
  drafts: Pick<Drafts, 'create' | 'pieces' | 'discard'>
  /** Puts a draft where a row may name it. @throws StorageUnavailable */
  place(blob: StagedBlob): Promise<void>
  /**
   * Removes a file that no row names, unless somebody counts on it. @param isClaimed is asked when nothing is
   * placed
   */
  remove(db: Db, hash: Uint8Array, isClaimed: () => boolean): Promise<void>
  /** @throws when there is no such blob */
  read(db: Db, hash: Uint8Array): Promise<Buffer>
  /** For bytes that are passed on: a file is read piece by piece. @throws when there is no such blob */
  open(db: Db, hash: Uint8Array): Promise<OpenBlob>
  /**
   * Removes a file that no row names, unless it was staged a short while ago: a row may be about to name it.
   * @param name as `names` tells it; that of a blob's file is its hash in hex
   * @returns whether there was such a file
   */
  discard(db: Db, name: string): Promise<boolean>
  /** Every file there is, those that were not finished included; folder by folder. */
  names(): AsyncGenerator<string[]>
}

interface OpenBlob {
  sizeBytes: number
  /** To be read once, or not at all: a file is opened with the first piece, and closed after the last. */
  content: AsyncIterable<Uint8Array>
}

const HASH_DIGITS = 64
const INNER_FOLDER = /^[0-9a-f]{2}$/
/** One that was not finished has its draft's number behind it. */
const FILE = /^[0-9a-f]{64}(\.[0-9a-f]{12})?$/
/** No request takes so long from staging its attachments to the end of its command. */
export const STAGED_FOR_MS = 3_600_000

/**
 * @param folder where the files lie; made when needed
 * @param now epoch ms; tells when a file was last staged
 */
export function createBlobFiles(folder: string, now: () => number = Date.now): BlobFiles {
  const pathOf = (name: string) => join(folder, name.slice(0, 2), name)
  /** Of one hash, staging and removing wait for each other. */
  const alone = createKeyedLock()
  const drafts = createDrafts(folder)

  const discard = async (db: Db, name: string) => {
    const stagedAt = await modifiedAt(pathOf(name))
    if (stagedAt === undefined || now() - stagedAt < STAGED_FOR_MS) return false
    if (name.length === HASH_DIGITS && (await findBlob(db, Buffer.from(name, 'hex')))) return false
    await unlink(pathOf(name))
    return true
  }

  return {
    ...stagingIn(drafts),
    place({ draft, hash }) {
      const name = blobName(hash)
      return alone(name, () => drafts.place(draft!, pathOf(name), now()))
    },
    remove(db, hash, isClaimed) {
      const name = blobName(hash)
      return alone(name, async () => {
        if (isClaimed() || (await findBlob(db, hash))) return
        await rm(pathOf(name), { force: true })
      })
    },
    async read(db, hash) {
      const { body } = await rowOf(db, hash)
      return body === null ? readFile(pathOf(blobName(hash))) : Buffer.from(body)
    },
    async open(db, hash) {
      const { body } = await rowOf(db, hash)
      if (body !== null) return { sizeBytes: body.length, content: onePiece(body) }
      const path = pathOf(blobName(hash))
      const { size: sizeBytes } = await stat(path)
      return { sizeBytes, content: piecesOf(path) }
    },
    discard: (db, name) => alone(name.slice(0, HASH_DIGITS), () => discard(db, name)),
    async *names() {
      for (const inner of await entriesOf(folder, INNER_FOLDER)) yield entriesOf(join(folder, inner), FILE)
    },
  }
}

/** How bytes are made ready; the same wherever they are going to lie. */
export function stagingIn(drafts: Drafts): Pick<BlobFiles, 'stage' | 'receive' | 'drafts'> {
  return {
    async stage(bytes) {
      const staged = { hash: sha256(bytes), sizeBytes: bytes.length }
      if (bytes.length <= INLINE_BYTES_MAX) return { ...staged, body: new Uint8Array(bytes), draft: null }
      return { ...staged, body: null, draft: await drafts.write(bytes) }
    },
    receive: () => createBlobStream(drafts),
    drafts,
  }
}

/** @throws when there is no such blob */
export async function rowOf(db: Db, hash: Uint8Array): Promise<Pick<BlobRow, 'body' | 'sizeBytes'>> {
  const row = await db
    .selectFrom('blobs')
    .select(['body', 'sizeBytes'])
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (!row) throw new Error(`there is no blob ${blobName(hash)}`)
  return row
}

export async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Buffer>
}

export async function findBlob(db: Db, hash: Uint8Array) {
  return db.selectFrom('blobs').select('sizeBytes').where('hash', '=', hash).executeTakeFirst()
}

/** Part of a command: one more use of each blob. */
export async function referBlobs(tx: Tx, blobs: readonly StagedBlob[], nowMs: number): Promise<void> {
  const byName = [...Map.groupBy(blobs, ({ hash }) => blobName(hash))].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = byName.map(([, same]) => {
    const { hash, sizeBytes, body } = same[0]!
    return { hash, sizeBytes, body, refs: same.length, createdAt: nowMs }
  })
  await tx.rows.refer('blobs', rows)
}

/**
 * Part of a command: one use less for every time a hash (in hex) is named; what nobody uses any more goes.
 * @returns names of files that no row names any more, once the command is committed
 */
export async function releaseBlobs(tx: Tx, hashes: readonly string[]): Promise<string[]> {
  const unused: string[] = []
  for (const [name, uses] of Map.groupBy(hashes, each => each)) {
    const hash = Buffer.from(name, 'hex')
    await tx.db
      .updateTable('blobs')
      .set(eb => ({ refs: eb('refs', '-', uses.length) }))
      .where('hash', '=', hash)
      .execute()
    const gone = await tx.db
      .deleteFrom('blobs')
      .where('hash', '=', hash)
      .where('refs', '<=', 0)
      .returning('sizeBytes')
      .executeTakeFirst()
    if (gone && gone.sizeBytes > INLINE_BYTES_MAX) unused.push(name)
  }
  return unused
}

/** Epoch ms; undefined when there is no such file. */
async function modifiedAt(path: string): Promise<number | undefined> {
  return (await unlessMissing(stat(path)))?.mtimeMs
}

/** None where there is no such folder. */
async function entriesOf(folder: string, kind: RegExp): Promise<string[]> {
  return ((await unlessMissing(readdir(folder))) ?? []).filter(name => kind.test(name))
}

async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}
