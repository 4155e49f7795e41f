/** Migrates a database to the current schema. The table `migrations` records what has been applied. */
import { type Kysely, sql } from 'kysely'
import { StartFault } from '../../lib/start-fault.ts'
import { columnsOf, type Dialect } from '../model/columns.ts'
import { type Migration, migrations } from './index.ts'

/**
 * Applies the missing migrations. The caller runs this in one transaction, so that a kill leaves the old
 * schema or the new one.
 * @returns names of the migrations applied now
 * @throws StartFault when the database was written by a newer version, or before version 0.1.0
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
  const applied = rows.map(({ name }) => name)
  requireKnownVersion(applied, known)
  const pending = pendingAfter(applied, known)
  for (const { name, up } of pending) {
    await up(db, columnsOf(dialect))
    await sql`insert into migrations (name, applied_at) values (${name}, ${nowMs})`.execute(db)
  }
  return pending.map(({ name }) => name)
}

/** @returns the migrations that a database lacks, in order */
export function pendingAfter(
  applied: readonly string[],
  known: readonly Migration[] = migrations,
): readonly Migration[] {
  return known.filter(({ name }) => !applied.includes(name))
}

/** First migration of the development versions before 0.1.0. */
const BEFORE_RELEASE = '001-main-path'

/**
 * @param applied names of the migrations of a database
 * @param wayBack how this version can be used nevertheless, appended to the message
 * @throws StartFault when the database was written by a newer version, or before version 0.1.0
 */
export function requireKnownVersion(
  applied: readonly string[],
  known: readonly Migration[] = migrations,
  wayBack = '',
): void {
  if (applied.includes(BEFORE_RELEASE))
    throw new StartFault(
      'the database was made by a development version before 0.1.0, which cannot be upgraded; keep it elsewhere and start with a new one',
    )
  const unknown = applied.filter(name => !known.some(migration => migration.name === name))
  if (unknown.length > 0)
    throw new StartFault(
      `the database was made by a newer version (${unknown.join(', ')}); upgrade Mailhorn${wayBack}`,
    )
}

/**
 * @param names of files in the data folder
 * @returns the message for an empty database beside a data folder that has been used before
 */
export function emptyText(database: string, names: readonly string[]): string {
  return (
    `the database is empty (${database}), but the data folder is that of an installation that has run: it holds ` +
    `${names.join(', ')}. The database was lost, or database.url or data_dir leads to another one. Restore a backup, or ` +
    'correct the setting. To begin anew without the former data, start once with MAILHORN_DATABASE_START_NEW=true'
  )
}

/** Whether the database has the current schema. */
export async function isCurrent(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db)
  const applied = new Set(rows.map(({ name }) => name))
  return applied.size === migrations.length && migrations.every(({ name }) => applied.has(name))
}
