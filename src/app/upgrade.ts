/**
 * What a start does before it migrates the database of an older version: it refuses, makes a snapshot, or
 * says that there is none. Part of the composition root.
 */
import type { Config } from '../config/config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { StartFault } from '../lib/start-fault.ts'
import { makeSnapshot, requireSnapshotRoom } from '../store/backup/snapshot.ts'
import { pendingAfter } from '../store/migrations/migrate.ts'
import { databaseBytes, databaseFile, locate, type StoreLocation } from '../store/opening/dialect.ts'
import { appliedMigrations } from '../store/opening/start-check.ts'

/**
 * @param pending names of the migrations that the database lacks
 * @throws StartFault before anything is written, when the database is not to be migrated, or cannot be copied
 */
export function checkUpgrade(
  { dataDir, database }: Pick<Config, 'dataDir' | 'database'>,
  pending: readonly string[],
  log: Log,
): void {
  if (pending.length === 0) return
  if (!database.migrate)
    throw new StartFault(
      `the database has pending migrations (${pending.join(', ')}), which are not applied, because database.migrate is false ` +
        '(--no-migrate): start without it to apply them, or start the former version',
    )
  const location = locate({ dataDir, url: database.url })
  if (databaseFile(location) === undefined)
    log.warn(
      { event: 'snapshot_skipped', reason: 'postgres', migrations: pending },
      'The PostgreSQL database is migrated, and no snapshot of it is made. The way back is a backup (`mailhorn backup`) from before the upgrade',
    )
  else if (database.snapshots === 0)
    log.warn(
      { event: 'snapshot_skipped', reason: 'setting', migrations: pending },
      'The database is migrated without a snapshot, because `database.snapshots` is 0. The way back is a backup from before the upgrade',
    )
  else requireSnapshotRoom(location)
}

/**
 * Makes a snapshot of a database that the start is going to migrate. Runs while the data folder is locked:
 * another process may have migrated it since the check.
 */
export async function snapshotBeforeMigration(
  location: StoreLocation,
  { clock, log, keep }: { clock: Clock; log: Log; keep: number },
): Promise<void> {
  if (keep === 0 || databaseFile(location) === undefined) return
  const applied = await appliedMigrations(location)
  const pending = pendingAfter(applied).map(({ name }) => name)
  const schema = applied.at(-1)
  if (schema === undefined || pending.length === 0) return
  log.info(
    { event: 'snapshot_started', migrations: pending, database_bytes: databaseBytes(location) },
    'The database is of an older version; a snapshot is made before it is migrated',
  )
  const startedAt = clock.monotonic()
  const { path, bytes, removed } = await makeSnapshot({ location, schema, keep, nowMs: clock.now() })
  const tookMs = Math.round(clock.monotonic() - startedAt)
  log.info(
    { event: 'snapshot_made', path, bytes, took_ms: tookMs, removed },
    'A snapshot of the database was made. `mailhorn restore` of the former version goes back to it',
  )
}
