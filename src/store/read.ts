/** Read access to the store: what a thread gets that reads without writing, and reads of several queries. */
import type { CompiledQuery } from 'kysely'
import type { BlobFiles } from './blobs/blobs.ts'
import type { RowOps } from './row-ops.ts'
import type { Db } from './schema.ts'

export interface Compilable<R = unknown> {
  compile(): CompiledQuery<R>
}

export type RowsOf<Q extends readonly Compilable[]> = {
  [K in keyof Q]: Q[K] extends Compilable<infer R> ? R[] : never
}

/** Runs queries that must see the same commit; one list of rows per query, in their order. */
export type ReadTogether = <Q extends readonly Compilable[]>(...queries: Q) => Promise<RowsOf<Q>>

/**
 * Reads that must see the same commit, where later ones depend on what earlier ones have found. One at a
 * time.
 */
export type Snapshot = <T>(work: (db: Db) => Promise<T>) => Promise<T>

/** Point reads on a reading connection, by kept statements: what is read for every message goes this way. */
export type Find = RowOps['find']

/** The reading half of a store, for one thread. */
export interface Reader {
  /** Every statement sees the last commit. The caller destroys the instance at the end. */
  db: Db
  find: Find
  readTogether: ReadTogether
  snapshot: Snapshot
  blobs: BlobFiles
}
