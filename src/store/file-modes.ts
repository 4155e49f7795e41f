/**
 * File permissions of the data folder. New files are private to their owner by the umask; existing files, or
 * files from a backup, are corrected when the store is opened.
 */
import { chmodSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SECRET_FILE } from './secret-file.ts'

/** For `process.umask`: what a program makes is for its owner alone. */
export const OWNER_ONLY_UMASK = 0o077
/** Permission bits of the group and of all others. */
const OTHERS = 0o077
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

export interface StoredFiles {
  dataDir: string
  blobFolder: string
  /** Undefined where the database is no file. */
  databaseFile: string | undefined
}

/**
 * Takes the files of a store away from the group and all others. The certificate file is left as it is, which
 * a proxy may read on purpose, and so is the folder itself. What cannot be changed (another user owns it) is
 * left, too: `mailhorn doctor` reports it.
 */
export function tightenFiles(files: StoredFiles): void {
  for (const { path, mode } of looseEntries(files))
    try {
      chmodSync(path, mode)
    } catch (error) {
      if (!['EPERM', 'EROFS', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
}

/** Files that other users of the machine can read or write, where their folder lets them in. */
export function filesForOthers(files: StoredFiles): string[] {
  return looseEntries(files)
    .map(({ path }) => path)
    .filter(path => isForOthers(dirname(path)))
}

/** Whether others may do anything with it; false where it is not there. */
export function isForOthers(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && (found.mode & OTHERS) !== 0
}

function looseEntries({ dataDir, blobFolder, databaseFile }: StoredFiles) {
  const database =
    databaseFile === undefined ? [] : [databaseFile, `${databaseFile}-wal`, `${databaseFile}-shm`]
  return [
    ...[...database, join(dataDir, SECRET_FILE)].map(path => ({ path, mode: FILE_MODE })),
    { path: blobFolder, mode: FOLDER_MODE },
  ].filter(({ path }) => isForOthers(path))
}
