/**
 * Bytes that are kept as they came (attachments, raw mail), by their SHA-256: small ones in a row, large ones
 * in a file that is on the disk, with its folder, before the row that names it is committed.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile, rename, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Tx } from './command.ts'
import type { Db } from './schema.ts'

/** A blob on its way into the store. `body` is null when its file has been written. */
export interface StagedBlob {
  hash: Uint8Array
  sizeBytes: number
  body: Uint8Array | null
}

export interface BlobFiles {
  /** Gets bytes ready to be named by a command: hashed, and written to a file when they are large. */
  stage(bytes: Uint8Array): Promise<StagedBlob>
  /** @throws when there is no such blob */
  read(db: Db, hash: Uint8Array): Promise<Buffer>
  /** For bytes that are passed on: a file is read piece by piece. @throws when there is no such blob */
  open(db: Db, hash: Uint8Array): Promise<OpenBlob>
}

export interface OpenBlob {
  sizeBytes: number
  /** To be read once, or not at all: a file is opened with the first piece, and closed after the last. */
  content: AsyncIterable<Uint8Array>
}

const LARGEST_INLINE_BYTES = 64 * 1024

/** @param folder where the files lie; made when needed */
export function createBlobFiles(folder: string): BlobFiles {
  const pathOf = (hash: Uint8Array) => {
    const name = Buffer.from(hash).toString('hex')
    return join(folder, name.slice(0, 2), name)
  }
  return {
    async stage(bytes) {
      const hash = new Uint8Array(createHash('sha256').update(bytes).digest())
      if (bytes.length <= LARGEST_INLINE_BYTES)
        return { hash, sizeBytes: bytes.length, body: new Uint8Array(bytes) }
      await writeDurably(pathOf(hash), bytes)
      return { hash, sizeBytes: bytes.length, body: null }
    },
    async read(db, hash) {
      const { body } = await rowOf(db, hash)
      return body === null ? readFile(pathOf(hash)) : Buffer.from(body)
    },
    async open(db, hash) {
      const { body } = await rowOf(db, hash)
      if (body !== null) return { sizeBytes: body.length, content: onePiece(body) }
      const { size: sizeBytes } = await stat(pathOf(hash))
      return { sizeBytes, content: piecesOf(pathOf(hash)) }
    },
  }
}

async function rowOf(db: Db, hash: Uint8Array): Promise<{ body: Uint8Array | null }> {
  const row = await db.selectFrom('blobs').select('body').where('hash', '=', hash).executeTakeFirst()
  if (!row) throw new Error(`there is no blob ${Buffer.from(hash).toString('hex')}`)
  return row
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Buffer>
}

/** Part of a command: one more use of each blob. */
export async function referBlobs(tx: Tx, blobs: readonly StagedBlob[], nowMs: number): Promise<void> {
  for (const blob of blobs)
    await tx.db
      .insertInto('blobs')
      .values({ ...blob, refs: 1, createdAt: nowMs })
      .onConflict(conflict => conflict.column('hash').doUpdateSet(eb => ({ refs: eb('blobs.refs', '+', 1) })))
      .execute()
}

/** Written whole, synced, renamed, and the folder synced; a file already there is only marked as fresh. */
async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  if (await touched(path)) return
  const folder = dirname(path)
  const made = await mkdir(folder, { recursive: true })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await syncFolder(folder)
  if (made) await syncFolder(dirname(folder))
}

async function touched(path: string): Promise<boolean> {
  const now = new Date()
  try {
    await utimes(path, now, now)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return false
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
