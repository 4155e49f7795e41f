/**
 * Names and places of the snapshots that a start makes before it migrates the database. They lie beside the
 * database:
 *
 *     snapshots/010-undo-of-broadcasts-20261128T003000Z.db   a database of that schema, complete
 *     snapshots/incomplete-…                                 one that is being made
 *     mailhorn.db.returning/                                 one that is being prepared to take the place of
 *                                                            the database
 *
 * A snapshot is complete or not there: it gets its name after it was synced.
 */
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { migrations } from '../migrations/index.ts'

export interface SchemaSnapshot {
  path: string
  /** Name of the last migration of its database. */
  schema: string
  /** ISO 8601 */
  madeAt: string
  bytes: number
}

/** Beginning of the name of a snapshot that is being made. */
export const INCOMPLETE_SNAPSHOT = 'incomplete-'
/** Ending of the name of the folder in which a snapshot is prepared to take the place of the database. */
export const RETURNING = '.returning'
/** Schema of this version. */
export const CURRENT_SCHEMA = migrations.at(-1)!.name

const NAME = /^(\d{3}-.+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/

export function snapshotFolder(databaseFile: string): string {
  return join(dirname(databaseFile), 'snapshots')
}

/** @param nowMs ms since the epoch */
export function snapshotName(schema: string, nowMs: number): string {
  return `${schema}-${new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')}.db`
}

/** @returns undefined when the path has not the name of a complete snapshot, or is no file */
export function snapshotAt(path: string): SchemaSnapshot | undefined {
  const [, schema, year, month, day, hour, minute, second] = NAME.exec(basename(path)) ?? []
  const found = statSync(path, { throwIfNoEntry: false })
  if (schema === undefined || !found?.isFile()) return undefined
  return {
    path,
    schema,
    madeAt: `${year}-${month}-${day}T${hour}:${minute}:${second}Z`,
    bytes: found.size,
  }
}

/** Lists the complete snapshots in a folder, the oldest first. */
export function listSnapshots(folder: string): SchemaSnapshot[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder)
    .flatMap(name => snapshotAt(join(folder, name)) ?? [])
    .sort((one, other) => (one.madeAt < other.madeAt ? -1 : 1))
}

/** @returns the newest snapshot of a schema in a folder, by default of the schema of this version */
export function newestSnapshot(folder: string, schema = CURRENT_SCHEMA): SchemaSnapshot | undefined {
  return listSnapshots(folder).findLast(snapshot => snapshot.schema === schema)
}
