/**
 * Layout of a folder of backups:
 *
 *     20261128T003000Z/   one backup: mailhorn.db, blobs.sha256, manifest.json, perhaps secret.key.sealed
 *     blobs/ab/abcd…      the files of all backups, each once, named by their SHA-256
 *     incomplete-…/       a backup that is being made or removed
 *     lock                held while a backup is made
 *
 * A backup is complete or not there: its folder gets its name after everything in it was synced.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { BackupFault } from './backup-fault.ts'

export const MANIFEST_FILE = 'manifest.json'
export const DATABASE_COPY = 'mailhorn.db'
export const BLOB_LIST = 'blobs.sha256'
export const SEALED_SECRET = 'secret.key.sealed'
export const POOL_FOLDER = 'blobs'
export const INCOMPLETE = 'incomplete-'

const NAME = /^(\d{8}T\d{6}Z)(?:-(\d+))?$/

/** A complete backup. */
export interface BackupPlace {
  /** Name of its folder, which is the time at which it was made. */
  name: string
  path: string
  /** Folder of the files of all backups beside it. */
  pool: string
}

/** @param nowMs ms since the epoch @returns a name that no backup in the folder has */
export function newBackupName(folder: string, nowMs: number): string {
  const at = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')
  for (let name = at, n = 2; ; name = `${at}-${n++}`) if (!existsSync(join(folder, name))) return name
}

/** Lists the complete backups in a folder, the oldest first. */
export function listBackups(folder: string): BackupPlace[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => NAME.test(name) && existsSync(join(folder, name, MANIFEST_FILE)))
    .sort(byTime)
    .map(name => placeOf(join(folder, name)))
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
  if (existsSync(join(folder, MANIFEST_FILE))) return placeOf(folder)
  const newest = listBackups(folder).at(-1)
  if (newest) return newest
  throw new BackupFault(
    basename(folder).startsWith(INCOMPLETE) || NAME.test(basename(folder))
      ? `${folder} is not complete: it has no ${MANIFEST_FILE}`
      : `there is no backup in ${folder}`,
  )
}

function placeOf(path: string): BackupPlace {
  return { name: basename(path), path, pool: join(dirname(path), POOL_FOLDER) }
}
