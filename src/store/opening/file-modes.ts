/**
 * File permissions of the data folder. New files are private to their owner by the umask; existing files, or
 * files from a backup, are corrected when the store is opened.
 */
import { chmodSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SECRET_FILE } from './secret-file.ts'
import { snapshotFolder } from './snapshots.ts'

/** Umask of the programs: files that they create are accessible to their owner alone. */
export const OWNER_ONLY_UMASK = 0o077
/** Permission bits of the group and of all others. */
const OTHERS = 0o077
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

export interface StoredFiles {
  dataDir: string
  blobFolder: string
  /** Undefined when the database is not a file. */
  databaseFile: string | undefined
}

/**
 * Removes the permissions of the group and of others from the files of a store. The certificate file, which a
 * proxy may read on purpose, and the folder itself stay unchanged. Files that cannot be changed, because
 * another user owns them, are skipped; `mailhorn doctor` reports them.
 */
export function tightenFiles(files: StoredFiles): void {
  for (const { path, mode } of looseEntries(files))
    try {
      chmodSync(path, mode)
    } catch (error) {
      if (!['EPERM', 'EROFS', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
}

/** @returns the files that other users of the machine can read or write and whose folder admits them */
export function filesForOthers(files: StoredFiles): string[] {
  return looseEntries(files)
    .map(({ path }) => path)
    .filter(path => isForOthers(dirname(path)))
}

/** Whether the group or others have any permission on the file; false when the file does not exist. */
export function isForOthers(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && (found.mode & OTHERS) !== 0
}

/**
 * @param path exists, and the user of the service may not read and write it
 * @param userId the user of the service
 */
export function accessAdvice(path: string, userId = process.getuid?.()): string {
  const entry = statSync(path)
  if (entry.uid !== userId) return "make the service's user its owner"
  return `its owner is the service's user, who may not use it; run \`chmod u+rw${entry.isDirectory() ? 'x' : ''} ${path}\``
}

function looseEntries({ dataDir, blobFolder, databaseFile }: StoredFiles) {
  const database =
    databaseFile === undefined ? [] : [databaseFile, `${databaseFile}-wal`, `${databaseFile}-shm`]
  const folders = [blobFolder, ...(databaseFile === undefined ? [] : [snapshotFolder(databaseFile)])]
  return [
    ...[...database, join(dataDir, SECRET_FILE)].map(path => ({ path, mode: FILE_MODE })),
    ...folders.map(path => ({ path, mode: FOLDER_MODE })),
  ].filter(({ path }) => isForOthers(path))
}
