/** Reading beyond single queries. */
import type { CompiledQuery } from 'kysely'

export interface Compilable<R = unknown> {
  compile(): CompiledQuery<R>
}

export type RowsOf<Q extends readonly Compilable[]> = {
  [K in keyof Q]: Q[K] extends Compilable<infer R> ? R[] : never
}

/** Runs queries that must see the same commit; one list of rows per query, in their order. */
export type ReadTogether = <Q extends readonly Compilable[]>(...queries: Q) => Promise<RowsOf<Q>>
