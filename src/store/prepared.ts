/** Queries that are built and compiled once and then run with other parameters. */
import type { CompiledQuery } from 'kysely'
import type { Compilable } from './read.ts'
import type { Db } from './schema.ts'

class Placeholder {
  readonly index: number
  constructor(index: number) {
    this.index = index
  }
}

/**
 * @param build is called once a database, with stand-ins that it may only hand to the query as values
 */
export function preparedQuery<P extends readonly unknown[], R>(
  build: (db: Db, ...params: P) => Compilable<R>,
): (db: Db, ...params: P) => Promise<R[]> {
  const compiled = new WeakMap<Db, CompiledQuery<R>>()
  return async (db, ...params) => {
    const query = compiled.get(db) ?? compile(db)
    const parameters = query.parameters.map(value =>
      value instanceof Placeholder ? params[value.index] : value,
    )
    return (await db.executeQuery<R>({ ...query, parameters })).rows
  }

  function compile(db: Db): CompiledQuery<R> {
    const standIns = Array.from({ length: build.length - 1 }, (_, i) => new Placeholder(i)) as unknown as P
    const query = build(db, ...standIns).compile()
    compiled.set(db, query)
    return query
  }
}
