/** Opens a repository of backups, or one backup, by its path or URL. */
import { dirname } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { faultOf } from './backup-fault.ts'
import { FolderRepository } from './folder-repository.ts'
import { type BackupPlace, findBackup } from './layout.ts'
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
