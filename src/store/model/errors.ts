/** Classification of store errors, common to both databases. */

/**
 * How an error affects a group of commands:
 * - `own`: it concerns its command only
 * - `contended`: a conflict with another transaction; the group may be retried
 * - `unavailable`: nothing can be stored at the moment
 * - `fatal`: the database may have lost committed data or is corrupt; the service must stop
 */
export type StoreErrorKind = 'own' | 'contended' | 'unavailable' | 'fatal'

/** Returns the code a database gave an error, such as `SQLITE_FULL` or `40P01`; empty for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** The disk may have lost committed data, or the database is corrupt: the service must stop. */
export class DiskFailure extends Error {
  /** Code of the database, which is kept when the error passes from thread to thread. */
  readonly code: string

  constructor(cause: unknown) {
    super(`${codeOf(cause)}: ${cause instanceof Error ? cause.message : cause}`, { cause })
    this.code = codeOf(cause)
  }
}
