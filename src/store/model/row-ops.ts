/** Bulk row operations, common to both databases. */
import type { Schema } from './schema.ts'

type Table = keyof Schema

/** Operations on many rows at once, by the cheapest means that the database has. */
export interface RowOps {
  insert<T extends Table>(table: T, rows: readonly Partial<Schema[T]>[]): Promise<void>
  /** Finds each row by its `key` columns and sets the other columns. */
  update<T extends Table>(
    table: T,
    key: readonly (keyof Schema[T] & string)[],
    rows: readonly Partial<Schema[T]>[],
  ): Promise<void>
  /** Returns one result per key, in their order; undefined when there is no such row. */
  find<T extends Table, K extends keyof Schema[T] & string, C extends keyof Schema[T] & string>(
    table: T,
    keys: readonly Pick<Schema[T], K>[],
    columns: readonly C[],
  ): Promise<(Pick<Schema[T], C> | undefined)[]>
  /**
   * Like `find`, for rows that are about to be changed. Until the commit no other transaction can change
   * them. Groups that wait for each other's rows do so in the order of the keys.
   */
  lock<T extends Table, K extends keyof Schema[T] & string, C extends keyof Schema[T] & string>(
    table: T,
    keys: readonly Pick<Schema[T], K>[],
    columns: readonly C[],
  ): Promise<(Pick<Schema[T], C> | undefined)[]>
  /** Inserts rows with distinct hashes. A row that exists already gets the `refs` of the new row added. */
  refer(table: 'blobs', rows: readonly Schema['blobs'][]): Promise<void>
  /** Reserves unused integer keys. */
  reserve(table: 'contents', count: number): Promise<number[]>
}
