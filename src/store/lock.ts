/** Keeps a data folder to one process: an exclusive lock that the system gives back when the process dies. */
import { join } from 'node:path'
import Database from 'better-sqlite3'

export interface FolderLock {
  release(): void
}

/** Another process, or another app of this one, holds the folder. */
export class FolderInUse extends Error {}

/** @throws FolderInUse when another process, or another app of this one, holds the folder */
export function lockFolder(folder: string): FolderLock {
  const lock = new Database(join(folder, 'lock'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
    throw new FolderInUse(`the data folder ${folder} is in use by another process`)
  }
  return { release: () => void lock.close() }
}
