/**
 * Makes a backup of a data folder while the service runs. It is complete or not there: everything is written
 * and synced in a folder with another name, the manifest last, and then the folder is renamed. A process that
 * is killed leaves the former backups as they were.
 *
 * In: the location of the store and a folder of backups. Out: one more backup in it, recorded in the data
 * folder. Called by the command line and the process of scheduled backups.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
import { FolderInUse, lockFolder } from '../opening/lock.ts'
import { BackupFault, BackupInProgress, faultOf } from './backup-fault.ts'
import { blobListPieces } from './blob-list.ts'
import { hashOfFile, writeHashed } from './hashing.ts'
import {
  BLOB_LIST,
  DATABASE_COPY,
  INCOMPLETE,
  MANIFEST_FILE,
  newBackupName,
  POOL_FOLDER,
  SEALED_SECRET,
} from './layout.ts'
import { type Manifest, newManifest } from './manifest.ts'
import { BlobPool } from './pool.ts'
import { prune } from './prune.ts'
import { recordMade } from './record.ts'
import { requireRoom } from './room.ts'
import { sealSecret } from './sealed-secret.ts'

export interface BackupOptions {
  location: StoreLocation
  dataDir: string
  /** Folder of backups, which is created when it is missing. */
  folder: string
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
export async function createBackup(options: BackupOptions): Promise<MadeBackup> {
  const { folder, location } = options
  if (location.kind !== 'sqlite') throw new BackupFault(POSTGRES_TEXT)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const lock = lockFolder(folder)
    try {
      return await createAlone(options)
    } finally {
      lock.release()
    }
  } catch (error) {
    if (error instanceof FolderInUse) throw new BackupInProgress(`another backup to ${folder} is being made`)
    throw faultOf(error, `the backup to ${folder} failed`)
  }
}

/** Runs while this process holds the lock of the folder. */
async function createAlone(options: BackupOptions): Promise<MadeBackup> {
  const { location, dataDir, folder, nowMs, version, keep, secret } = options
  await removeIncomplete(folder)
  const advice = ': free some, keep fewer backups, or use another disk'
  requireRoom(folder, databaseBytes(location), 'the backup', advice)
  const name = newBackupName(folder, nowMs)
  const work = join(folder, INCOMPLETE + name)
  await mkdir(work, { mode: 0o700 })
  try {
    const sealed = secret === null ? null : sealSecret(secret.bytes, secret.passphrase)
    const pool = new BlobPool({ pool: join(folder, POOL_FOLDER), live: location.blobFolder, work })
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
    await synced(work)
    const path = join(folder, name)
    await rename(work, path)
    await synced(folder)
    await synced(dirname(folder))
    return {
      path,
      databaseBytes: parts.database.bytes,
      blobs: copied.blobs,
      newBlobs: copied.added,
      lostBlobs: copied.lost,
      removed: await prune(folder, { keep, made: name }),
      unrecorded: recordedOr(dataDir, path, nowMs),
    }
  } catch (error) {
    await rm(work, { recursive: true, force: true }).catch(() => {}) // the next backup removes it
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

/** Removes what a killed process has left. The caller holds the lock of the folder. */
async function removeIncomplete(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith(INCOMPLETE)) await rm(join(folder, name), { recursive: true, force: true })
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
async function copyConsistently(location: StoreLocation, work: string, pool: BlobPool): Promise<CopiedFiles> {
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

async function addNamed(copy: string, pool: BlobPool): Promise<CopiedFiles> {
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
