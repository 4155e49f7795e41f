/**
 * Blob store addressed by SHA-256, for attachments and raw messages. Small blobs are rows; large ones are
 * files, which are synced together with their folder before the row that names them is committed.
 *
 * In: bytes or streams, from the API, the SMTP listeners and reports. Out: staged blobs, which a command then
 * refers to, and the bytes of stored blobs.
 */
import { createReadStream } from 'node:fs'
import { readdir, readFile, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { Tx } from '../model/command.ts'
import type { BlobRow, Db } from '../model/schema.ts'
import { createDrafts, type Drafts } from './drafts.ts'
import { blobName, INLINE_BYTES_MAX, type StagedBlob, sha256 } from './staged.ts'
import { type BlobStream, createBlobStream } from './stream.ts'

export interface BlobFiles {
  /**
   * Stages bytes: hashes them and, if they are large, writes them to a draft.
   * @throws StorageUnavailable
   */
  stage(bytes: Uint8Array): Promise<StagedBlob>
  /** Stages bytes that arrive in pieces. */
  receive(): BlobStream
  drafts: Pick<Drafts, 'create' | 'pieces' | 'discard'>
  /**
   * Moves a draft to its final name, so that a row may refer to it.
   * @throws StorageUnavailable
   */
  place(blob: StagedBlob): Promise<void>
  /**
   * Removes a file that no row names, unless a request has reserved it.
   * @param isClaimed whether a request has reserved the file; called while no other call stages or removes it
   */
  remove(db: Db, hash: Uint8Array, isClaimed: () => boolean): Promise<void>
  /** @throws when there is no such blob */
  read(db: Db, hash: Uint8Array): Promise<Buffer>
  /**
   * Opens a blob whose bytes are passed on. A file is read piece by piece.
   * @throws when there is no such blob
   */
  open(db: Db, hash: Uint8Array): Promise<OpenBlob>
  /**
   * Removes a file that no row names, unless it was staged recently, so that a row may be about to name it.
   * @param name a name from `names`; the name of a blob's file is its hash in hex
   * @returns whether there was such a file
   */
  discard(db: Db, name: string): Promise<boolean>
  /** Lists all files, including unfinished ones, folder by folder. */
  names(): AsyncGenerator<string[]>
}

interface OpenBlob {
  sizeBytes: number
  /** The bytes, which can be read once. A file is opened with the first piece and closed after the last. */
  content: AsyncIterable<Uint8Array>
}

const HASH_DIGITS = 64
const INNER_FOLDER = /^[0-9a-f]{2}$/
/** Matches file names. The name of an unfinished file ends in the number of its draft. */
const FILE = /^[0-9a-f]{64}(\.[0-9a-f]{12})?$/
/** Upper limit of the time from staging attachments to the end of the command that uses them. */
export const STAGED_FOR_MS = 3_600_000

/** Path of a file by its name, below a folder of blobs. */
export function blobPath(folder: string, name: string): string {
  return join(folder, name.slice(0, 2), name)
}

/**
 * @param folder folder of the files, which is created when it is needed
 * @param now returns ms since the epoch; sets the time at which a file was last staged
 */
export function createBlobFiles(folder: string, now: () => number = Date.now): BlobFiles {
  const pathOf = (name: string) => blobPath(folder, name)
  /** Staging and removing the same hash exclude each other. */
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

/** Stages bytes. Both databases share it, whatever they do with drafts. */
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

/** Adds one use of each blob. Part of a command. */
export async function referBlobs(tx: Tx, blobs: readonly StagedBlob[], nowMs: number): Promise<void> {
  const byName = [...Map.groupBy(blobs, ({ hash }) => blobName(hash))].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = byName.map(([, same]) => {
    const { hash, sizeBytes, body } = same[0]!
    return { hash, sizeBytes, body, refs: same.length, createdAt: nowMs }
  })
  await tx.rows.refer('blobs', rows)
}

/**
 * Removes one use for each time that a hash (in hex) is listed, and deletes blobs without uses. Part of a
 * command.
 * @returns names of files that no row names once the command is committed
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

/** @returns time of the last change in ms since the epoch; undefined when there is no such file */
async function modifiedAt(path: string): Promise<number | undefined> {
  return (await unlessMissing(stat(path)))?.mtimeMs
}

/** @returns no names when there is no such folder */
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
