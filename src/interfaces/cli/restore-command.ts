/** `mailhorn restore`: makes an installation from a backup, with its queued mail on hold. */
import { resolve } from 'node:path'
import { wireId } from '../../lib/ids.ts'
import type { RestoredMail, restoredCommands } from '../../pipeline/queue/restored.ts'
import { findBackup } from '../../store/backup/layout.ts'
import { type Manifest, readManifest } from '../../store/backup/manifest.ts'
import { type Restored, restoreBackup } from '../../store/backup/restore.ts'
import { requireKnownVersion } from '../../store/migrations/migrate.ts'
import { locate } from '../../store/opening/dialect.ts'
import { openStore } from '../../store/opening/open.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import type { BackupSettings, CliCommand } from './command.ts'
import { type CliResult, CommandError } from './control/result.ts'

export const restoreCliCommand: CliCommand = {
  name: 'restore',
  usage: '<backup> [--into <data dir>] [--without-secret-key] [--skip-damaged]',
  summary: 'Restore a backup into an empty data folder, with its queued mail on hold',
  details: `  <backup>              A backup, or a folder of backups: its newest one.
  --into <data dir>     Data directory instead of the configured one. It must be empty or missing.
  --without-secret-key  Leave the secret key out; otherwise it is decrypted with backup.passphrase, if the backup has it.
  --skip-damaged        Leave out files that are missing or damaged in the backup.
  Mail that was due is held until you release it, since it may have been sent after the backup was made.`,
  options: {
    into: { type: 'string' },
    'without-secret-key': { type: 'boolean' },
    'skip-damaged': { type: 'boolean' },
  },
  positionals: { min: 1, max: 1 },
  async run({ values, positionals, backupSettings }) {
    const settings = backupSettings((values.into ?? values['data-dir']) as string | undefined)
    const { dataDir, databaseUrl: url, passphrase } = settings
    const location = locate({ dataDir, url })
    if (location.kind !== 'sqlite')
      throw new CommandError(
        'database.url is PostgreSQL: restore its dump with pg_restore, see docs/backup.md',
      )
    const place = findBackup(resolve(positionals[0]!))
    const manifest = readManifest(place.path)
    requireKnownVersion(manifest.migrations)
    const withKey = manifest.sealed_secret !== null && values['without-secret-key'] !== true
    if (withKey && passphrase === null)
      throw new CommandError(
        'the backup holds the secret key: set MAILHORN_BACKUP_PASSPHRASE or MAILHORN_BACKUP_PASSPHRASE_FILE, or leave the key ' +
          'out by --without-secret-key',
      )
    let mail: RestoredMail | undefined
    const restored = await restoreBackup({
      ...{ place, dataDir, databaseFile: location.databaseFile, blobFolder: location.blobFolder },
      passphrase: withKey ? passphrase : null,
      skipsDamaged: values['skip-damaged'] === true,
      async prepare(file) {
        mail = await holdMail(file, manifest, settings)
      },
    })
    return resultOf(dataDir, restored, mail!)
  },
}

/** Migrates the database, too. */
async function holdMail(file: string, manifest: Manifest, settings: BackupSettings): Promise<RestoredMail> {
  const { dataDir, writerThread, clock } = settings
  const store = await openStore<typeof restoredCommands>({
    dataDir,
    url: `sqlite:${file}`,
    writerThread,
    clock,
    onLoss(error) {
      throw error
    },
  })
  try {
    const reason = `restored from the backup of ${manifest.created_at}; may have been sent since`
    return await store.run('holdRestored', { reason, now: clock.now() })
  } finally {
    await store.close()
  }
}

function resultOf(
  dataDir: string,
  { manifest, hasSecret, skipped }: Restored,
  { deliveries, emails, enteredBefore, broadcastIds }: RestoredMail,
): CliResult {
  const before = enteredBefore === null ? null : timestamp(enteredBefore)
  const broadcasts = broadcastIds.map(id => wireId('brd', id))
  const held =
    deliveries === 0
      ? ['No mail was due.']
      : [
          `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'} of ${emails} ${emails === 1 ? 'email' : 'emails'} that were due are on hold: they may have been sent since the backup.`,
          '  List holds:    mailhorn queue holds',
          `  Send them:     mailhorn queue release --entered-before ${before}`,
          `  Discard them:  mailhorn queue cancel --entered-before ${before}, then release the hold`,
        ]
  const key = hasSecret
    ? 'The secret key was restored.'
    : 'The secret key is not in the backup: put secret.key into the data directory, or set MAILHORN_SECRET_KEY, before you start the service.'
  return {
    json: {
      data_dir: dataDir,
      created_at: manifest.created_at,
      held: { deliveries, emails, entered_before: before, broadcast_ids: broadcasts },
      secret_key_restored: hasSecret,
      skipped_blobs: skipped,
    },
    text: [
      `The backup of ${manifest.created_at} was restored to ${dataDir}.`,
      ...held,
      ...broadcasts.map(id => `Broadcast ${id} is on hold: mailhorn queue release --broadcast ${id}`),
      ...skipped.map(name => `File ${name} was left out.`),
      key,
    ].join('\n'),
  }
}
