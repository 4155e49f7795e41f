/** Error of a backup that the operator can understand and remove. */

import { codeOf } from '../model/errors.ts'
import { isDamaged } from '../opening/dialect.ts'

/** The message is one line for the operator: what is wrong and what to do. */
export class BackupFault extends Error {
  override readonly name: string = 'BackupFault'
}

/** Another process makes a backup to the same folder. */
export class BackupInProgress extends BackupFault {
  override readonly name = 'BackupInProgress'
}

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  SQLITE_FULL: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'its file system is mounted read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EEXIST: 'it is not a folder',
  ENOTDIR: 'it is not a folder',
  EIO: 'the disk failed',
}

/** Turns errors of the disk and of a damaged database into a fault; other errors stay as they are. */
export function faultOf(error: unknown, what: string): unknown {
  if (error instanceof BackupFault) return error
  const code = codeOf(error)
  const reason =
    REASONS[code] ?? (/^SQLITE_(?:IOERR|CANTOPEN|READONLY)/.test(code) ? 'the disk failed' : undefined)
  if (reason !== undefined) return new BackupFault(`${what}: ${reason} (${code})`, { cause: error })
  if (isDamaged(error))
    return new BackupFault(`${what}: the database is damaged (${(error as Error).message})`, { cause: error })
  return error
}
