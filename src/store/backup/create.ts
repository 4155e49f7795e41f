/**
 * Makes a backup of a data folder while the service runs. It is complete or not there, in a folder and in a
 * bucket of an S3-compatible store. A process that is killed leaves the former backups as they were.
 *
 * In: the location of the store and the place of backups. Out: one more backup in it, recorded in the data
 * folder. Called by the command line and the process of scheduled backups.
 */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
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
import { BackupFault, faultOf } from './backup-fault.ts'
import { blobListPieces } from './blob-list.ts'
import { hashOfFile, writeHashed } from './hashing.ts'
import { BLOB_LIST, DATABASE_COPY, MANIFEST_FILE, SEALED_SECRET } from './layout.ts'
import { type Manifest, newManifest } from './manifest.ts'
import { openRepository } from './open.ts'
import type { FilePool } from './pool.ts'
import { recordMade } from './record.ts'
import type { BackupRepository } from './repository.ts'
import type { S3Settings } from './s3-address.ts'
import { sealSecret } from './sealed-secret.ts'

export interface BackupOptions {
  location: StoreLocation
  dataDir: string
  /** Folder of backups, which is created when it is missing, or `s3://bucket/prefix`. */
  folder: string
  s3: S3Settings
  /** ms since the epoch */
  nowMs: number
  /** Version of the program. */
  version: string
  /** Number of backups that stay; null when all do. */
  keep: number | null
  /** The secret key, to be sealed with the passphrase; null when it stays out of the backup. */
  secret: { bytes: Uint8Array; passphrase: string } | null
}

export interface MadeBackup {
  path: string
  databaseBytes: number
  blobs: Manifest['blobs']
  /** Number of files that no former backup had. */
  newBlobs: number
  lostBlobs: Manifest['lost_blobs']
  /** Paths of the backups that were removed. */
  removed: string[]
  /** Reason for which the backup could not be recorded in the data folder; null when it was. */
  unrecorded: string | null
}

/** Function of the process that makes scheduled backups. */
export const MAKE_BACKUP = 'makeBackup'
const HASH_DIGITS = 64
/** Times that the database is copied when files are deleted at the same time. */
const COPIES_MAX = 3
const POSTGRES_TEXT =
  'the database is PostgreSQL, which holds the attachments, too: back it up with pg_dump or a base backup, and keep the ' +
  'secret key, see "PostgreSQL" in docs/backup.md'

/** @throws BackupFault */
export async function createBackup(options: BackupOptions, clock: Clock): Promise<MadeBackup> {
  const { folder, location, s3, dataDir } = options
  if (location.kind !== 'sqlite') throw new BackupFault(POSTGRES_TEXT)
  try {
    const repository = openRepository({ folder, s3, dataDir, clock })
    return await repository.alone(() => createAlone(options, repository))
  } catch (error) {
    throw faultOf(error, `the backup to ${folder} failed`)
  }
}

/** Runs while this process alone makes a backup there. */
async function createAlone(options: BackupOptions, repository: BackupRepository): Promise<MadeBackup> {
  const { location, dataDir, nowMs, version, keep, secret } = options
  const { blobFolder } = location
  const draft = await repository.begin({ nowMs, blobFolder, bytes: databaseBytes(location) })
  const { name, path, work, pool } = draft
  try {
    const sealed = secret === null ? null : sealSecret(secret.bytes, secret.passphrase)
    const copied = await copyConsistently(location, work, pool)
    const copy = join(work, DATABASE_COPY)
    await synced(copy)
    const parts = {
      created_at: new Date(nowMs).toISOString(),
      version,
      migrations: migrationsInCopy(copy),
      database: await hashOfFile(copy),
      blob_list: await writeHashed(join(work, BLOB_LIST), blobListPieces(blobFilesInCopy(copy))),
      blobs: copied.blobs,
      sealed_secret: sealed === null ? null : await writeHashed(join(work, SEALED_SECRET), [sealed]),
      lost_blobs: copied.lost,
    }
    await pool.sync()
    await writeHashed(join(work, MANIFEST_FILE), [newManifest(parts)])
    await draft.publish()
    return {
      path,
      databaseBytes: parts.database.bytes,
      blobs: copied.blobs,
      newBlobs: copied.added,
      lostBlobs: copied.lost,
      removed: await repository.prune({ keep, made: name }),
      unrecorded: recordedOr(dataDir, path, nowMs),
    }
  } catch (error) {
    await draft.discard().catch(() => {}) // the next backup removes it
    throw error
  }
}

/** @returns why the backup was not recorded: a data folder on a failing disk may be read-only */
function recordedOr(dataDir: string, path: string, madeAt: number): string | null {
  try {
    recordMade(dataDir, path, madeAt)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

interface CopiedFiles {
  blobs: Manifest['blobs']
  added: number
  lost: Manifest['lost_blobs']
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
    const { blobs, lost, ...after } = await addNamed(copy, pool)
    added += after.added
    if (lost.length === 0 || (await areStillNamed(location, lost))) return { blobs, added, lost }
    if (copies === COPIES_MAX)
      throw new BackupFault('files were deleted while the backup was made, three times; try again later')
    await rm(copy)
  }
}

async function addNamed(copy: string, pool: FilePool): Promise<CopiedFiles> {
  const files: CopiedFiles = { blobs: { count: 0, bytes: 0 }, added: 0, lost: [] }
  for (const { name, sizeBytes } of blobFilesInCopy(copy)) {
    files.blobs.count += 1
    files.blobs.bytes += sizeBytes
    const result = await pool.add(name)
    if (result === 'added') files.added += 1
    else if (result !== 'known') files.lost.push({ name, fault: result })
  }
  return files
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
