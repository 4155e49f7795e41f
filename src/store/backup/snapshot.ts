/**
 * Makes a snapshot of a SQLite database before a start migrates it, so that the former version can be used
 * again. It is complete or not there: it is written and synced under another name.
 *
 * In: the location of the store, whose folder the caller has locked. Out: a file beside the database. Called
 * by `app/upgrade.ts`.
 */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartFault } from '../../lib/start-fault.ts'
import { synced } from '../../lib/synced.ts'
import { copyDatabase, databaseBytes, databaseFile, type StoreLocation } from '../opening/dialect.ts'
import {
  INCOMPLETE_SNAPSHOT,
  listSnapshots,
  RETURNING,
  type SchemaSnapshot,
  snapshotAt,
  snapshotFolder,
  snapshotName,
} from '../opening/snapshots.ts'
import { BackupFault, faultOf } from './backup-fault.ts'
import { requireRoom } from './room.ts'

export interface SnapshotOptions {
  location: StoreLocation
  /** Name of the last migration of the database. */
  schema: string
  /** Number of snapshots that stay. */
  keep: number
  /** ms since the epoch */
  nowMs: number
}

export interface MadeSnapshot extends SchemaSnapshot {
  /** Paths of the snapshots that were removed. */
  removed: string[]
}

const WHAT = 'the snapshot before the migration of the database'
const ADVICE =
  'back up to another disk by `mailhorn backup`, and start once without a snapshot: MAILHORN_DATABASE_SNAPSHOTS=0'

/** @throws StartFault when the disk of the database has no room for a snapshot */
export function requireSnapshotRoom(location: StoreLocation): void {
  const folder = dirname(databaseFile(location)!)
  try {
    requireRoom(folder, databaseBytes(location), WHAT, `: free some, or enlarge the disk, or ${ADVICE}`)
  } catch (error) {
    throw startFaultOf(error)
  }
}

/**
 * The former snapshots of the same schema are removed, since they are earlier states of the same database,
 * and of the others all but the newest.
 * @throws StartFault
 */
export async function makeSnapshot(options: SnapshotOptions): Promise<MadeSnapshot> {
  const { location, schema, keep, nowMs } = options
  requireSnapshotRoom(location)
  const file = databaseFile(location)!
  const folder = snapshotFolder(file)
  const name = snapshotName(schema, nowMs)
  const path = join(folder, name)
  const incomplete = join(folder, INCOMPLETE_SNAPSHOT + name)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await removeIncomplete(folder)
    await rm(file + RETURNING, { recursive: true, force: true })
    await (await open(incomplete, 'wx', 0o600)).close()
    copyDatabase(location, incomplete)
    await synced(incomplete)
    await rename(incomplete, path)
    await synced(folder)
    await synced(dirname(folder))
    const made = snapshotAt(path)!
    return { ...made, removed: await prune(folder, made, keep) }
  } catch (error) {
    await rm(incomplete, { force: true }).catch(() => {}) // the next one removes it
    throw startFaultOf(faultOf(error, `${WHAT} failed`))
  }
}

/** Removes what a killed process has left. */
async function removeIncomplete(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith(INCOMPLETE_SNAPSHOT)) await rm(join(folder, name), { recursive: true })
}

/** @returns paths of the snapshots that were removed */
async function prune(folder: string, made: SchemaSnapshot, keep: number): Promise<string[]> {
  const former = listSnapshots(folder).filter(({ path }) => path !== made.path)
  const others = former.filter(({ schema }) => schema !== made.schema)
  const staying = new Set(others.slice(Math.max(0, others.length - keep + 1)))
  const old = former.filter(snapshot => !staying.has(snapshot)).map(({ path }) => path)
  for (const path of old) await rm(path)
  return old
}

function startFaultOf(error: unknown): unknown {
  if (!(error instanceof BackupFault)) return error
  const advice = error.message.includes(ADVICE) ? '' : `. To start without it, ${ADVICE}`
  return new StartFault(error.message + advice, { cause: error })
}
