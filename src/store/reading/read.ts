/**
 * Types of read access to the store: the reading half that a thread opens, and reads of several queries in
 * one commit.
 */
import type { CompiledQuery } from 'kysely'
import type { BlobFiles } from '../blobs/blobs.ts'
import type { RowOps } from '../model/row-ops.ts'
import type { Db } from '../model/schema.ts'

export interface Compilable<R = unknown> {
  compile(): CompiledQuery<R>
}

export type RowsOf<Q extends readonly Compilable[]> = {
  [K in keyof Q]: Q[K] extends Compilable<infer R> ? R[] : never
}

/** Runs queries that must see the same commit. Returns one list of rows per query, in their order. */
export type ReadTogether = <Q extends readonly Compilable[]>(...queries: Q) => Promise<RowsOf<Q>>

/**
 * Runs reads that must see the same commit and depend on each other's results. Snapshots run one after
 * another.
 */
export type Snapshot = <T>(work: (db: Db) => Promise<T>) => Promise<T>

/** Reads single rows by their keys with prepared statements. Reads that happen for every message use this. */
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
