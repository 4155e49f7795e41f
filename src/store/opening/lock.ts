/**
 * Restricts a data folder to one process by an exclusive lock, which the system releases when the process
 * ends.
 */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { StartFault } from '../../lib/start-fault.ts'
import { codeOf } from '../model/errors.ts'
import { accessAdvice } from './file-modes.ts'

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
  if (code === 'SQLITE_BUSY') return new FolderInUse(inUseText(folder, path))
  if (/^SQLITE_(?:NOTADB|CORRUPT)/.test(code))
    return new StartFault(`${path} is damaged; it holds no data: remove it and start again`)
  if (/^SQLITE_(?:CANTOPEN|READONLY)/.test(code))
    return new StartFault(
      `the data folder ${folder} cannot be written (${(error as Error).message}): ${accessAdvice(folder)}`,
    )
  return error
}

function inUseText(folder: string, path: string): string {
  const holder = holderOf(path)
  const named = holder === undefined ? '' : ` (process ${holder})`
  return `the data folder ${folder} is in use by another process${named}; stop it, or set another data_dir`
}

/** Line of a lock in `/proc/locks` (proc_locks(5)): the process, and the file by device and inode. */
const HELD = /^\d+: POSIX +ADVISORY +WRITE +(\d+) [\da-f]+:[\da-f]+:(\d+) /gm

/**
 * @returns the id of the process that has locked the file; undefined when the system does not tell, as for a
 * process of another container
 */
function holderOf(path: string): string | undefined {
  try {
    const inode = `${statSync(path).ino}`
    const held = [...readFileSync('/proc/locks', 'utf8').matchAll(HELD)].filter(line => line[2] === inode)
    const holders = new Set(held.map(line => line[1]!))
    return holders.size === 1 ? [...holders][0] : undefined
  } catch {
    return undefined
  }
}
