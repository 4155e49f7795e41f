/**
 * Makes a backup of a data folder while the service runs. It is complete or not there, in a folder and in a
 * bucket of an S3-compatible store. A process that is killed leaves the former backups as they were.
 *
 * In: the location of the store and the place of backups. Out: one more backup in it, recorded in the data
 * folder. Called by the command line and the process of scheduled backups.
 */
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { StoreLocation } from '../opening/dialect.ts'
import { faultOf } from './backup-fault.ts'
import { dumpSource } from './dump-source.ts'
import { writeHashed } from './hashing.ts'
import { MANIFEST_FILE, SEALED_SECRET } from './layout.ts'
import { type Manifest, newManifest } from './manifest.ts'
import { openRepository } from './open.ts'
import { recordMade } from './record.ts'
import type { BackupRepository } from './repository.ts'
import type { S3Settings } from './s3-address.ts'
import { sealSecret } from './sealed-secret.ts'
import { sqliteSource } from './store-copy.ts'

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

/** @throws BackupFault */
export async function createBackup(options: BackupOptions, clock: Clock): Promise<MadeBackup> {
  const { folder, s3, dataDir } = options
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
  const source = location.kind === 'sqlite' ? sqliteSource(location) : await dumpSource(location)
  const draft = await repository.begin({ nowMs, find: source.find, bytes: source.bytes })
  const { name, path, work, pool } = draft
  try {
    const sealed = secret === null ? null : sealSecret(secret.bytes, secret.passphrase)
    const { added, ...copied } = await source.copyTo(draft)
    const parts = {
      ...copied,
      created_at: new Date(nowMs).toISOString(),
      version,
      sealed_secret: sealed === null ? null : await writeHashed(join(work, SEALED_SECRET), [sealed]),
    }
    await pool.sync()
    await writeHashed(join(work, MANIFEST_FILE), [newManifest(parts)])
    await draft.publish()
    return {
      path,
      databaseBytes: parts.database.bytes,
      blobs: copied.blobs,
      newBlobs: added,
      lostBlobs: copied.lost_blobs,
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
