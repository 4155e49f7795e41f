/** Bulk row operations, common to both databases. */
import type { Schema } from './schema.ts'

type Table = keyof Schema

/** Many rows at once, by the cheapest means the database has. */
export interface RowOps {
  insert<T extends Table>(table: T, rows: readonly Partial<Schema[T]>[]): Promise<void>
  /** Sets the other columns of the rows found by their `key` columns. */
  update<T extends Table>(
    table: T,
    key: readonly (keyof Schema[T] & string)[],
    rows: readonly Partial<Schema[T]>[],
  ): Promise<void>
  /** One result per key, in their order; undefined where there is no such row. */
  find<T extends Table, K extends keyof Schema[T] & string, C extends keyof Schema[T] & string>(
    table: T,
    keys: readonly Pick<Schema[T], K>[],
    columns: readonly C[],
  ): Promise<(Pick<Schema[T], C> | undefined)[]>
  /**
   * Like `find`, for rows that are about to be changed: until the commit nobody else changes them, and what
   * was found stays true. Groups that wait for each other's rows do so in the order of the keys.
   */
  lock<T extends Table, K extends keyof Schema[T] & string, C extends keyof Schema[T] & string>(
    table: T,
    keys: readonly Pick<Schema[T], K>[],
    columns: readonly C[],
  ): Promise<(Pick<Schema[T], C> | undefined)[]>
  /** Inserts rows, each of another hash; what is there already is used so many times more, as `refs` says. */
  refer(table: 'blobs', rows: readonly Schema['blobs'][]): Promise<void>
  /** So many fresh integer keys. */
  reserve(table: 'contents', count: number): Promise<number[]>
}
