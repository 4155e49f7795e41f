/**
 * Layout of a folder of backups, which is the same in a bucket of an S3-compatible store:
 *
 *     20261128T003000Z/   one backup: mailhorn.db or mailhorn.dump, blobs.sha256, manifest.json, perhaps
 *                         secret.key.sealed
 *     blobs/ab/abcd…      the files of all backups, each once, named by their SHA-256
 *     incomplete-…/       a backup that is being made or removed
 *     lock                held while a backup is made
 *
 * A backup is complete or not there: its folder gets its name after everything in it was synced. In a bucket,
 * the manifest is stored last.
 */
import { constants, existsSync, readdirSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { blobPath } from '../blobs/blobs.ts'
import { BackupFault } from './backup-fault.ts'
import { type HashedFile, hashOfFile } from './hashing.ts'

export const MANIFEST_FILE = 'manifest.json'
export const DATABASE_COPY = 'mailhorn.db'
/** A dump of a PostgreSQL database, in the custom format of `pg_dump`. */
export const DATABASE_DUMP = 'mailhorn.dump'
export const BLOB_LIST = 'blobs.sha256'
export const SEALED_SECRET = 'secret.key.sealed'
export const POOL_FOLDER = 'blobs'
export const INCOMPLETE = 'incomplete-'

const NAME = /^(\d{8}T\d{6}Z)(?:-(\d+))?$/

/** A complete backup, which can be read. What is missing has the code ENOENT. */
export interface BackupPlace {
  /** Name of its folder, which is the time at which it was made. */
  name: string
  /** Path or URL, for messages. */
  path: string
  /** Folder of stored files, of which `fetchBlob` has made sure. */
  blobFolder: string
  /** @returns a path at which a file of the backup can be read */
  file(name: string): Promise<string>
  /** Copies a file of the backup to a path at which there is none. */
  copy(name: string, target: string): Promise<void>
  /** @returns the path or URL of a stored file, for messages */
  blobPath(name: string): string
  fetchBlob(name: string): Promise<void>
  copyBlob(name: string, target: string): Promise<void>
  hashOfBlob(name: string): Promise<HashedFile>
  /** Removes what was fetched. */
  close(): Promise<void>
}

class PlaceInFolder implements BackupPlace {
  readonly name: string
  readonly path: string
  readonly blobFolder: string

  constructor(path: string) {
    this.name = basename(path)
    this.path = path
    this.blobFolder = join(dirname(path), POOL_FOLDER)
  }

  async file(name: string): Promise<string> {
    return join(this.path, name)
  }

  copy(name: string, target: string): Promise<void> {
    return copyFile(join(this.path, name), target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  }

  blobPath(name: string): string {
    return blobPath(this.blobFolder, name)
  }

  async fetchBlob(): Promise<void> {}

  copyBlob(name: string, target: string): Promise<void> {
    return copyFile(this.blobPath(name), target, constants.COPYFILE_FICLONE)
  }

  hashOfBlob(name: string): Promise<HashedFile> {
    return hashOfFile(this.blobPath(name))
  }

  async close(): Promise<void> {}
}

/**
 * @param nowMs ms since the epoch
 * @param isTaken whether a backup has the name
 */
export function newBackupName(nowMs: number, isTaken: (name: string) => boolean): string {
  const at = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')
  for (let name = at, n = 2; ; name = `${at}-${n++}`) if (!isTaken(name)) return name
}

/** @returns the names of backups among others, the oldest first */
export function backupNames(names: readonly string[]): string[] {
  return names.filter(name => NAME.test(name)).sort(byTime)
}

/** @returns when a backup was made, from its name, in ms since the epoch */
export function backupTime(name: string): number {
  return Date.parse(name.replace(/^(....)(..)(..T..)(..)(..Z).*$/, '$1-$2-$3:$4:$5'))
}

/** @returns the oldest entries but the last few; none when all stay */
export function beyond<T>(entries: readonly T[], keep: number | null): T[] {
  return keep === null ? [] : entries.slice(0, Math.max(0, entries.length - keep))
}

/** Lists the complete backups in a folder, the oldest first. */
export function listBackups(folder: string): BackupPlace[] {
  if (!existsSync(folder)) return []
  return backupNames(readdirSync(folder))
    .filter(name => existsSync(join(folder, name, MANIFEST_FILE)))
    .map(name => new PlaceInFolder(join(folder, name)))
}

function byTime(one: string, other: string): number {
  const [, oneAt, oneNumber = '1'] = NAME.exec(one)!
  const [, otherAt, otherNumber = '1'] = NAME.exec(other)!
  if (oneAt !== otherAt) return oneAt! < otherAt! ? -1 : 1
  return Number(oneNumber) - Number(otherNumber)
}

/**
 * @param path of a backup, or of a folder of backups, which stands for the newest one
 * @throws BackupFault when there is none
 */
export function findBackup(path: string): BackupPlace {
  const folder = resolve(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new BackupFault(`there is no folder ${folder}`)
  if (existsSync(join(folder, MANIFEST_FILE))) return new PlaceInFolder(folder)
  const newest = listBackups(folder).at(-1)
  if (newest) return newest
  throw new BackupFault(
    basename(folder).startsWith(INCOMPLETE) || NAME.test(basename(folder))
      ? `${folder} is not complete: it has no ${MANIFEST_FILE}`
      : `there is no backup in ${folder}`,
  )
}
