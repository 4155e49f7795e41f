/** What kind of trouble an error of SQLite is: one that passes, one that ends everything, or a command's own. */

const UNAVAILABLE = /^SQLITE_(FULL|IOERR|READONLY|BUSY|LOCKED|NOMEM|CANTOPEN)/
const FATAL = /^SQLITE_(IOERR_FSYNC|IOERR_DIR_FSYNC|CORRUPT|NOTADB)/

/** Nothing can be stored at the moment: disk full, read-only, or locked. True of some fatal errors, too. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(codeOf(error))
}

/** The disk may have lost what it had confirmed, or holds no sound database. */
export function isFatal(error: unknown): boolean {
  return FATAL.test(codeOf(error))
}

/** Such as `SQLITE_FULL`; empty for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
