/**
 * `mailhorn restore`: makes an installation from a backup, or goes back to a snapshot, with queued mail on
 * hold.
 */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { wireId } from '../../lib/ids.ts'
import type { RestoredMail, restoredCommands } from '../../pipeline/queue/restored.ts'
import type { BackupPlace } from '../../store/backup/layout.ts'
import { loadBackup } from '../../store/backup/load-dump.ts'
import { type Manifest, readManifest } from '../../store/backup/manifest.ts'
import { openBackup } from '../../store/backup/open.ts'
import { type Restored, restoreBackup } from '../../store/backup/restore.ts'
import { returnToSnapshot } from '../../store/backup/return.ts'
import { isS3Address } from '../../store/backup/s3-address.ts'
import { requireKnownVersion } from '../../store/migrations/migrate.ts'
import { locate, type StoreLocation } from '../../store/opening/dialect.ts'
import { openStore } from '../../store/opening/open.ts'
import { SECRET_FILE } from '../../store/opening/secret-file.ts'
import {
  CURRENT_SCHEMA,
  listSnapshots,
  newestSnapshot,
  type SchemaSnapshot,
  snapshotAt,
} from '../../store/opening/snapshots.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import type { BackupSettings, CliCommand } from './command.ts'
import { type CliResult, CommandError, UsageError } from './control/result.ts'
import { actAsOwner } from './installation.ts'

export const restoreCliCommand: CliCommand = {
  name: 'restore',
  usage: '<backup or snapshot> [--into <data dir>] [--without-secret-key] [--skip-damaged]',
  summary:
    'Restore a backup into an empty data folder or database, or go back to a snapshot, with queued mail on hold',
  details: `  <backup>              A backup, or a place of backups (a folder or s3://bucket/prefix): its newest one.
  <snapshot>            A snapshot that was made before an upgrade, or the folder of snapshots: the newest one of this
                        version's schema. It takes the place of the database in the data directory, which is set aside.
  --into <data dir>     Data directory instead of the configured one. For a backup, it must be empty or missing. For one of
                        PostgreSQL, the database of database.url must be empty instead.
  --without-secret-key  Leave the secret key out; otherwise it is decrypted with backup.passphrase, if the backup has it.
  --skip-damaged        Leave out files that are missing or damaged in the backup.
  Mail that was due is held until you release it, since it may have been sent after the backup or snapshot was made.`,
  options: {
    into: { type: 'string' },
    'without-secret-key': { type: 'boolean' },
    'skip-damaged': { type: 'boolean' },
  },
  positionals: { min: 1, max: 1 },
  async run({ values, positionals, backupSettings }) {
    const settings = backupSettings((values.into ?? values['data-dir']) as string | undefined)
    const { dataDir, databaseUrl: url } = settings
    const location = locate({ dataDir, url })
    const how = {
      withoutKey: values['without-secret-key'] === true,
      skipsDamaged: values['skip-damaged'] === true,
    }
    if (isS3Address(positionals[0]!)) return restoreFrom(positionals[0]!, location, settings, how)
    const path = resolve(positionals[0]!)
    if (location.kind === 'postgres') return restoreFrom(path, location, settings, how)
    const hasBackupOption = how.withoutKey || how.skipsDamaged
    const snapshot = snapshotOf(path)
    if (snapshot && hasBackupOption)
      throw new UsageError('--without-secret-key and --skip-damaged are for backups, not for snapshots')
    return snapshot ? goBack(snapshot, location, settings) : restoreFrom(path, location, settings, how)
  },
}

/**
 * @returns the snapshot that the path names, or the newest of this version's schema in a folder of snapshots;
 * undefined when the path names none
 * @throws CommandError when the folder has snapshots of other schemas alone
 */
function snapshotOf(path: string): SchemaSnapshot | undefined {
  const found = snapshotAt(path) ?? newestSnapshot(path)
  const others = found ? [] : listSnapshots(path)
  if (others.length === 0) return found
  throw new CommandError(
    `${path} has no snapshot of the schema ${CURRENT_SCHEMA} of this version, only of ${[...new Set(others.map(({ schema }) => schema))].join(', ')}: install the version that you go back to first`,
  )
}

type SqliteStore = StoreLocation & { kind: 'sqlite' }

interface HowToRestore {
  withoutKey: boolean
  skipsDamaged: boolean
}

async function restoreFrom(
  path: string,
  location: StoreLocation,
  settings: BackupSettings,
  how: HowToRestore,
): Promise<CliResult> {
  const place = await openBackup(path, settings.s3, settings.clock)
  try {
    return await restorePlace(place, location, settings, how)
  } finally {
    await place.close()
  }
}

async function restorePlace(
  place: BackupPlace,
  location: StoreLocation,
  settings: BackupSettings,
  { withoutKey, skipsDamaged }: HowToRestore,
): Promise<CliResult> {
  const { dataDir } = settings
  const manifest = await readManifest(place)
  requireSameKind(place, manifest, location)
  requireKnownVersion(manifest.migrations)
  const withKey = manifest.sealed_secret !== null && !withoutKey
  const passphrase = withKey ? settings.passphrase : null
  if (withKey && passphrase === null)
    throw new CommandError(
      'the backup holds the secret key: set MAILHORN_BACKUP_PASSPHRASE or MAILHORN_BACKUP_PASSPHRASE_FILE, or leave the key ' +
        'out by --without-secret-key',
    )
  let mail: RestoredMail | undefined
  const hold = async (url: string, folder: string) => {
    const source = `backup of ${manifest.created_at}`
    mail = await holdMail(url, source, { ...settings, dataDir: folder })
  }
  if (location.kind === 'sqlite') {
    const { databaseFile, blobFolder } = location
    const restored = await restoreBackup({
      ...{ place, dataDir, databaseFile, blobFolder, skipsDamaged, passphrase },
      prepare: file => hold(`sqlite:${file}`, dataDir),
    })
    return resultOf(dataDir, restored, mail!)
  }
  if (existsSync(dataDir)) actAsOwner(dataDir)
  const restored = await loadBackup({
    ...{ place, dataDir, location, skipsDamaged, passphrase },
    nowMs: settings.clock.now(),
    prepare: folder => hold(settings.databaseUrl, folder),
  })
  return resultOf(dataDir, restored, mail!)
}

/** @throws CommandError when the backup is of the other database */
function requireSameKind({ path }: BackupPlace, { postgres }: Manifest, { kind }: StoreLocation) {
  if (kind === 'sqlite' && postgres !== null)
    throw new CommandError(
      `${path} is the backup of a PostgreSQL database: set database.url to an empty one (MAILHORN_DATABASE_URL)`,
    )
  if (kind === 'postgres' && postgres === null)
    throw new CommandError(
      `${path} is the backup of a SQLite database, and database.url is PostgreSQL: remove that setting (MAILHORN_DATABASE_URL)`,
    )
}

async function goBack(
  snapshot: SchemaSnapshot,
  location: SqliteStore,
  settings: BackupSettings,
): Promise<CliResult> {
  const { dataDir, clock } = settings
  if (!existsSync(dataDir)) throw new CommandError(`there is no data folder ${dataDir}`)
  actAsOwner(dataDir)
  let mail: RestoredMail | undefined
  const { setAside, missingFiles } = await returnToSnapshot({
    ...{ snapshot, location, dataDir },
    nowMs: clock.now(),
    async prepare(file) {
      const place = { ...settings, dataDir: dirname(file) } // the lock of the data folder is held
      mail = await holdMail(`sqlite:${file}`, `snapshot of ${snapshot.madeAt}`, place)
    },
  })
  const { text, json } = heldMail(mail!, 'snapshot')
  return {
    json: {
      data_dir: dataDir,
      created_at: snapshot.madeAt,
      schema: snapshot.schema,
      held: json,
      set_aside: setAside,
      missing_blobs: missingFiles,
    },
    text: [
      `The snapshot of ${snapshot.madeAt} is the database of ${dataDir} again.`,
      ...(setAside === null
        ? []
        : [`The database of the newer version, with all that came since, was set aside: ${setAside}`]),
      ...text,
      ...(missingFiles === 0
        ? []
        : [`${missingFiles} stored ${missingFiles === 1 ? 'file was' : 'files were'} deleted since.`]),
    ].join('\n'),
  }
}

/**
 * Migrates the database, too.
 * @param url as `database.url`
 * @param source what the database comes from, such as "backup of 2026-11-28T00:30:00.000Z"
 */
async function holdMail(
  url: string,
  source: string,
  { dataDir, writerThread, clock }: Pick<BackupSettings, 'dataDir' | 'writerThread' | 'clock'>,
): Promise<RestoredMail> {
  const store = await openStore<typeof restoredCommands>({
    dataDir,
    url,
    writerThread,
    clock,
    onLoss(error) {
      throw error
    },
  })
  try {
    const reason = `restored from the ${source}; may have been sent since`
    return await store.run('holdRestored', { reason, now: clock.now() })
  } finally {
    await store.close()
  }
}

/** Describes what is on hold. @param source "backup" or "snapshot" */
function heldMail(
  { deliveries, emails, enteredBefore, broadcastIds }: RestoredMail,
  source: 'backup' | 'snapshot',
): { text: string[]; json: object } {
  const before = enteredBefore === null ? null : timestamp(enteredBefore)
  const broadcasts = broadcastIds.map(id => wireId('brd', id))
  const held =
    deliveries === 0
      ? ['No mail was due.']
      : [
          `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'} of ${emails} ${emails === 1 ? 'email' : 'emails'} that were due are on hold: they may have been sent since the ${source}.`,
          '  List holds:    mailhorn queue holds',
          `  Send them:     mailhorn queue release --entered-before ${before}`,
          `  Discard them:  mailhorn queue cancel --entered-before ${before}, then release the hold`,
        ]
  return {
    text: [
      ...held,
      ...broadcasts.map(id => `Broadcast ${id} is on hold: mailhorn queue release --broadcast ${id}`),
    ],
    json: { deliveries, emails, entered_before: before, broadcast_ids: broadcasts },
  }
}

function resultOf(
  dataDir: string,
  { manifest, hasSecret, skipped }: Restored,
  mail: RestoredMail,
): CliResult {
  const held = heldMail(mail, 'backup')
  const key = hasSecret
    ? 'The secret key was restored.'
    : existsSync(join(dataDir, SECRET_FILE))
      ? 'The secret key of the data directory stays as it is.'
      : 'The secret key is not in the backup: put secret.key into the data directory, or set MAILHORN_SECRET_KEY, before you start the service.'
  return {
    json: {
      data_dir: dataDir,
      created_at: manifest.created_at,
      held: held.json,
      secret_key_restored: hasSecret,
      skipped_blobs: skipped,
    },
    text: [
      `The backup of ${manifest.created_at} was restored to ${dataDir}.`,
      ...held.text,
      ...skipped.map(name => `File ${name} was left out.`),
      key,
    ].join('\n'),
  }
}
