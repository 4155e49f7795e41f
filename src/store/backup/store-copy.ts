/** Copies a SQLite store into a backup, and names the parts of a copy that stores of both databases have. */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { synced } from '../../lib/synced.ts'
import { blobPath, createBlobFiles, findBlob } from '../blobs/blobs.ts'
import {
  blobFilesInCopy,
  copyDatabase,
  databaseBytes,
  migrationsInCopy,
  openReader,
  type StoreLocation,
} from '../opening/dialect.ts'
import { BackupFault } from './backup-fault.ts'
import { blobListPieces } from './blob-list.ts'
import { hashOfFile, writeHashed } from './hashing.ts'
import { BLOB_LIST, DATABASE_COPY } from './layout.ts'
import type { Manifest } from './manifest.ts'
import type { FilePool, LiveFile } from './pool.ts'
import type { BackupDraft } from './repository.ts'

/** A store that is copied into a backup. */
export interface StoreSource {
  find: LiveFile
  /** Size that the copy of the database will not exceed by much. */
  bytes: number
  /** Copies the database as of one commit, all files that it names, and their list. */
  copyTo(draft: BackupDraft): Promise<StoreCopy>
}

export interface StoreCopy
  extends Pick<Manifest, 'migrations' | 'database' | 'postgres' | 'blob_list' | 'blobs' | 'lost_blobs'> {
  /** Number of files that no former backup had. */
  added: number
}

/** Files that a copy of a database names. */
export interface CopiedFiles {
  blobs: Manifest['blobs']
  added: number
  lost: Manifest['lost_blobs']
}

const HASH_DIGITS = 64
/** Times that the database is copied when files are deleted at the same time. */
const COPIES_MAX = 3

export function sqliteSource(location: StoreLocation): StoreSource {
  return {
    find: async name => blobPath(location.blobFolder, name),
    bytes: databaseBytes(location),
    async copyTo({ work, pool }) {
      const { blobs, added, lost } = await copyConsistently(location, work, pool)
      const copy = join(work, DATABASE_COPY)
      await synced(copy)
      return {
        migrations: migrationsInCopy(copy),
        database: await hashOfFile(copy),
        postgres: null,
        blob_list: await writeHashed(join(work, BLOB_LIST), blobListPieces(blobFilesInCopy(copy))),
        ...{ blobs, added, lost_blobs: lost },
      }
    },
  }
}

/**
 * Copies the database with all files that it names. Files are added before the database is copied, since
 * those that it names may be deleted afterwards, and the rest after it. When one that came in between was
 * deleted, too, the database is copied again.
 */
async function copyConsistently(location: StoreLocation, work: string, pool: FilePool): Promise<CopiedFiles> {
  const copy = join(work, DATABASE_COPY)
  for (let added = 0, copies = 1; ; copies++) {
    for await (const names of createBlobFiles(location.blobFolder).names())
      for (const name of names.filter(each => each.length === HASH_DIGITS).sort())
        if ((await pool.add(name)) === 'added') added += 1
    copyDatabase(location, copy)
    const { blobs, lost, ...after } = await addNamed(blobFilesInCopy(copy), pool)
    added += after.added
    if (lost.length === 0 || (await areStillNamed(location, lost))) return { blobs, added, lost }
    if (copies === COPIES_MAX)
      throw new BackupFault('files were deleted while the backup was made, three times; try again later')
    await rm(copy)
  }
}

/** @param named the files that a database names, in the order of their names */
export async function addNamed(
  named: Iterable<NamedFile> | AsyncIterable<NamedFile>,
  pool: FilePool,
): Promise<CopiedFiles> {
  const files: CopiedFiles = { blobs: { count: 0, bytes: 0 }, added: 0, lost: [] }
  for await (const { name, sizeBytes } of named) {
    files.blobs.count += 1
    files.blobs.bytes += sizeBytes
    const result = await pool.add(name)
    if (result === 'added') files.added += 1
    else if (result !== 'known') files.lost.push({ name, fault: result })
  }
  return files
}

interface NamedFile {
  /** SHA-256 in hex. */
  name: string
  sizeBytes: number
}

/** Whether the database in use names files that are missing, so that another copy would lack them, too. */
async function areStillNamed(location: StoreLocation, lost: CopiedFiles['lost']): Promise<boolean> {
  const { db } = openReader(location)
  try {
    for (const { name, fault } of lost)
      if (
        fault === 'missing' &&
        (existsSync(blobPath(location.blobFolder, name)) || !(await findBlob(db, Buffer.from(name, 'hex'))))
      )
        return false
    return true
  } finally {
    await db.destroy()
  }
}
