/** Classifies errors of SQLite. */
import { codeOf, type StoreErrorKind } from '../model/errors.ts'

/** Nothing can be stored at the moment: disk full, read-only, or locked. */
const UNAVAILABLE = /^SQLITE_(FULL|IOERR|READONLY|BUSY|LOCKED|NOMEM|CANTOPEN)/
const FATAL = /^SQLITE_(IOERR_FSYNC|IOERR_DIR_FSYNC|CORRUPT|NOTADB)/

export function sqliteErrorKind(error: unknown): StoreErrorKind {
  const code = codeOf(error)
  if (FATAL.test(code)) return 'fatal'
  return UNAVAILABLE.test(code) ? 'unavailable' : 'own'
}

/** Whether an error means that the file is not a sound database. */
export function isDamaged(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(codeOf(error)) || isUnsupported(error)
}

/** Whether the header of the database names a format of its schema that SQLite does not know. */
function isUnsupported(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_ERROR' && (error as Error).message === 'unsupported file format'
}

export function lacksTable(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_ERROR' && (error as Error).message.startsWith('no such table')
}
