/** What goes wrong in a store, whatever database it is. */

/**
 * What kind of trouble an error is to a group of commands: `own`, its command's alone; `contended`, others were faster
 * and the group may try again; `unavailable`, nothing can be stored at the moment; `fatal`, the database may have lost
 * what it had confirmed, or holds no sound data: nothing may go on.
 */
export type StoreErrorKind = 'own' | 'contended' | 'unavailable' | 'fatal'

/** The disk may have lost what it had confirmed, or holds no sound database: nothing may go on. */
export class DiskFailure extends Error {}

/** The code a database gave an error, such as `SQLITE_FULL` or `40P01`; empty for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
