/** Brings a database to the present schema; what it did is recorded in the table `migrations`. */
import { type Kysely, sql } from 'kysely'
import { columnsOf, type Dialect } from './migrations/columns.ts'
import { type Migration, migrations } from './migrations/index.ts'

/**
 * To be called inside one transaction, so that a kill leaves the old schema or the new one.
 * @returns names of the migrations applied now
 * @throws when the database was written by a newer version
 */
export async function migrate(
  db: Kysely<unknown>,
  dialect: Dialect,
  nowMs: number,
  known: readonly Migration[] = migrations,
): Promise<string[]> {
  await sql`create table if not exists migrations (name text primary key, applied_at bigint not null)`.execute(
    db,
  )
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db)
  const applied = new Set(rows.map(row => row.name))
  const unknown = [...applied].filter(name => !known.some(migration => migration.name === name))
  if (unknown.length > 0)
    throw new Error(`the database was made by a newer version (${unknown.join(', ')}); upgrade Posthorn`)
  const pending = known.filter(({ name }) => !applied.has(name))
  for (const { name, up } of pending) {
    await up(db, columnsOf(dialect))
    await sql`insert into migrations (name, applied_at) values (${name}, ${nowMs})`.execute(db)
  }
  return pending.map(({ name }) => name)
}

/** Whether the database is of the present schema. */
export async function isCurrent(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db)
  const applied = new Set(rows.map(({ name }) => name))
  return applied.size === migrations.length && migrations.every(({ name }) => applied.has(name))
}
