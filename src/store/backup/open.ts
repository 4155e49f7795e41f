/** Opens a repository of backups, or one backup, by its path or URL. */
import { dirname } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { faultOf } from './backup-fault.ts'
import { FolderRepository } from './folder-repository.ts'
import { type BackupPlace, backupNames, backupTime, findBackup, listBackups } from './layout.ts'
import { readManifest } from './manifest.ts'
import type { BackupRepository } from './repository.ts'
import { isS3Address, type S3Settings, s3PlaceAt } from './s3-address.ts'
import { findInBucket } from './s3-place.ts'
import { S3Repository } from './s3-repository.ts'

interface RepositoryOptions {
  /** Path of a folder, or `s3://bucket/prefix`. */
  folder: string
  s3: S3Settings
  dataDir: string
  clock: Clock
}

/** @throws BackupFault */
export function openRepository({ folder, s3, dataDir, clock }: RepositoryOptions): BackupRepository {
  if (!isS3Address(folder)) return new FolderRepository(folder)
  return new S3Repository(s3PlaceAt(folder, s3, clock), dataDir, clock)
}

/**
 * @param path path or URL of a backup, or of the place of all backups, which stands for the newest one
 * @throws BackupFault when there is none
 */
export async function openBackup(path: string, s3: S3Settings, clock: Clock): Promise<BackupPlace> {
  if (!isS3Address(path)) return findBackup(path)
  const at = s3PlaceAt(path, s3, clock)
  const hasParent = at.prefix !== ''
  try {
    return await findInBucket(at, hasParent ? s3PlaceAt(dirname(at.address), s3, clock) : undefined)
  } catch (error) {
    throw faultOf(error, `${at.address} cannot be read`)
  }
}

/** Function of the process of backups. */
export const LIST_BACKUPS = 'listBackups'

/** A backup, with what its manifest says; null for backups in a bucket, whose manifests are not fetched. */
export interface ListedBackup {
  name: string
  /** ms since the epoch */
  madeAt: number
  contents: {
    version: string
    databaseBytes: number
    files: { count: number; bytes: number }
    hasSecretKey: boolean
  } | null
  /** Reason for which the manifest cannot be read; null if it can. */
  fault: string | null
}

const LISTED_MAX = 100

/**
 * Lists the newest backups, newest first.
 * @throws BackupFault
 */
export async function listPlace(folder: string, s3: S3Settings, clock: Clock): Promise<ListedBackup[]> {
  if (!isS3Address(folder)) return Promise.all(listBackups(folder).slice(-LISTED_MAX).reverse().map(listed))
  const { bucket, prefix, address } = s3PlaceAt(folder, s3, clock)
  try {
    const names = backupNames(await bucket.folders(prefix))
      .slice(-LISTED_MAX)
      .reverse()
    return names.map(name => ({ name, madeAt: backupTime(name), contents: null, fault: null }))
  } catch (error) {
    throw faultOf(error, `${address} cannot be read`)
  }
}

async function listed(place: BackupPlace): Promise<ListedBackup> {
  const { name } = place
  const madeAt = backupTime(name)
  try {
    const { version, database, blobs: files, sealed_secret: sealed } = await readManifest(place)
    const contents = { version, databaseBytes: database.bytes, files, hasSecretKey: sealed !== null }
    return { name, madeAt, contents, fault: null }
  } catch (error) {
    return { name, madeAt, contents: null, fault: (error as Error).message }
  }
}
