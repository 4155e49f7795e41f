/**
 * Puts a snapshot in the place of the database that a newer version has migrated, and sets that one aside as
 * a snapshot of its own. Whenever the process is killed, the database is the former one, the snapshot with
 * its mail on hold, or missing beside the snapshot that was prepared: the service does not start then.
 */
import { constants, existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { synced } from '../../lib/synced.ts'
import { blobPath } from '../blobs/blobs.ts'
import { migrations } from '../migrations/index.ts'
import { pendingAfter, requireKnownVersion } from '../migrations/migrate.ts'
import {
  blobFilesInCopy,
  closeLog,
  faultsInCopy,
  isBlank,
  migrationsInCopy,
  type StoreLocation,
} from '../opening/dialect.ts'
import { lockFolder } from '../opening/lock.ts'
import {
  CURRENT_SCHEMA,
  RETURNING,
  type SchemaSnapshot,
  snapshotFolder,
  snapshotName,
} from '../opening/snapshots.ts'
import { appliedMigrations } from '../opening/start-check.ts'
import { BackupFault, faultOf } from './backup-fault.ts'
import { removeLog } from './restore.ts'
import { requireRoom } from './room.ts'

export interface ReturnOptions {
  snapshot: SchemaSnapshot
  location: StoreLocation & { kind: 'sqlite' }
  dataDir: string
  /** ms since the epoch */
  nowMs: number
  /**
   * Holds the mail of the database, before a service can use it.
   * @param file path of the database
   */
  prepare(file: string): Promise<void>
}

export interface Returned {
  /** Path of the snapshot of the database that was in use; null when there was none. */
  setAside: string | null
  /** Number of stored files that the snapshot names, and that were deleted since. */
  missingFiles: number
}

/**
 * @throws BackupFault; the database that is in use stays in its place then
 * @throws StartFault when another process uses the data folder, or a database is of a newer version
 */
export async function returnToSnapshot(options: ReturnOptions): Promise<Returned> {
  const { snapshot, location, dataDir } = options
  requireOwnSchema(snapshot)
  const lock = lockFolder(dataDir)
  try {
    return await returnAlone(options)
  } catch (error) {
    // without a database, the folder keeps the service from starting
    if (existsSync(location.databaseFile))
      await rm(location.databaseFile + RETURNING, { recursive: true, force: true })
    throw faultOf(
      error,
      `the return to the snapshot ${snapshot.path} in ${dirname(location.databaseFile)} failed`,
    )
  } finally {
    lock.release()
  }
}

/** The version that is installed writes the holds, and the service that starts is that version. */
function requireOwnSchema({ path, schema }: SchemaSnapshot) {
  if (schema === CURRENT_SCHEMA) return
  throw new BackupFault(
    `${path} has the schema ${schema}, and this version has ${CURRENT_SCHEMA}: install the version that you go back to first`,
  )
}

/** Runs while this process holds the lock of the data folder. */
async function returnAlone(options: ReturnOptions): Promise<Returned> {
  const { snapshot, location, nowMs, prepare } = options
  const { databaseFile, blobFolder } = location
  const work = databaseFile + RETURNING
  await rm(work, { recursive: true, force: true })
  const former = await formerSchema(options)
  requireRoom(dirname(databaseFile), snapshot.bytes, 'the return to the snapshot')
  await mkdir(work, { mode: 0o700 })
  const copy = join(work, basename(databaseFile))
  await copyFile(snapshot.path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await chmod(copy, 0o600)
  requireSound(snapshot, copy)
  await prepare(copy)
  await removeLog(copy)
  const missingFiles = countMissing(copy, blobFolder)
  await synced(copy)
  await synced(work)
  await synced(dirname(work))
  const setAside = former === undefined ? null : await setAsideAs(snapshotName(former, nowMs), databaseFile)
  await removeLog(databaseFile)
  await rename(copy, databaseFile)
  await synced(dirname(databaseFile))
  await rm(work, { recursive: true, force: true })
  return { setAside, missingFiles }
}

/**
 * @returns the schema of the database in use; undefined when there is none
 * @throws BackupFault when it has the schema of the snapshot, so that nothing was migrated
 */
async function formerSchema({ location, snapshot }: ReturnOptions): Promise<string | undefined> {
  const file = location.databaseFile
  if (isBlank(location)) return undefined
  const schema = (await appliedMigrations(location)).at(-1)
  if (schema === snapshot.schema)
    throw new BackupFault(
      `${file} has the schema ${schema} of the snapshot already, so that there is nothing to go back from; for an earlier ` +
        'state, restore a backup',
    )
  return schema
}

/** @throws BackupFault when the contents are not those of a snapshot of this version's schema */
function requireSound({ path }: SchemaSnapshot, copy: string) {
  const [fault] = faultsInCopy(copy)
  if (fault !== undefined) throw new BackupFault(`${path} is damaged (${fault}); restore a backup`)
  const applied = migrationsInCopy(copy)
  requireKnownVersion(applied, migrations)
  if (pendingAfter(applied).length > 0)
    throw new BackupFault(`${path} has another schema than its name says: ${applied.at(-1)}`)
}

/** Moves the database into the folder of snapshots. @returns its path there */
async function setAsideAs(name: string, databaseFile: string): Promise<string> {
  const folder = snapshotFolder(databaseFile)
  const path = join(folder, name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  closeLog(databaseFile)
  await removeLog(databaseFile)
  await synced(databaseFile)
  await rename(databaseFile, path)
  await synced(folder)
  await synced(dirname(databaseFile))
  return path
}

function countMissing(copy: string, blobFolder: string): number {
  let count = 0
  for (const { name } of blobFilesInCopy(copy)) if (!existsSync(blobPath(blobFolder, name))) count += 1
  return count
}
