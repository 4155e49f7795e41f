/**
 * Restricts a data folder to one process by an exclusive lock, which the system releases when the process
 * ends.
 */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { StartFault } from '../lib/start-fault.ts'
import { codeOf } from './errors.ts'

export interface FolderLock {
  release(): void
}

/** Name of the file in the data folder. It holds no data. */
export const LOCK_FILE = 'lock'

export class FolderInUse extends StartFault {}

/**
 * @throws FolderInUse when another process, or another app of this one, holds the folder
 * @throws StartFault when the lock cannot be written
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, LOCK_FILE)
  let lock: Database.Database | undefined
  try {
    lock = new Database(path, { timeout: 0 })
    lock.exec('begin exclusive')
    return { release: () => void lock!.close() }
  } catch (error) {
    lock?.close()
    throw faultOf(error, folder, path)
  }
}

function faultOf(error: unknown, folder: string, path: string): unknown {
  const code = codeOf(error)
  if (code === 'SQLITE_BUSY') return new FolderInUse(`the data folder ${folder} is in use by another process`)
  if (/^SQLITE_(?:NOTADB|CORRUPT)/.test(code))
    return new StartFault(`${path} is damaged; it holds no data: remove it and start again`)
  if (/^SQLITE_(?:CANTOPEN|READONLY)/.test(code))
    return new StartFault(
      `the data folder ${folder} cannot be written (${(error as Error).message}): make the service's user its owner`,
    )
  return error
}
