/** `mailhorn backup` and `mailhorn verify`: make backups of the data folder, and check them. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createSecretKeys } from '../../lib/secret-keys.ts'
import { rebuildSample } from '../../pipeline/delivery/message/sample.ts'
import { type BackupOptions, createBackup, type MadeBackup } from '../../store/backup/create.ts'
import { writeDumpSample } from '../../store/backup/dump-sample.ts'
import { type BackupPlace, DATABASE_COPY, DATABASE_DUMP } from '../../store/backup/layout.ts'
import { openBackup } from '../../store/backup/open.ts'
import { isS3Address } from '../../store/backup/s3-address.ts'
import { type VerifiedBackup, verifyBackup } from '../../store/backup/verify.ts'
import { findBlob } from '../../store/blobs/blobs.ts'
import { blobName, INLINE_BYTES_MAX } from '../../store/blobs/staged.ts'
import { pendingAfter } from '../../store/migrations/migrate.ts'
import { databaseExists, locate, openReader } from '../../store/opening/dialect.ts'
import { readSecret, SECRET_FILE } from '../../store/opening/secret-file.ts'
import type { BackupSettings, CliCommand } from './command.ts'
import { type CliResult, CommandError, UsageError } from './control/result.ts'
import { actAsOwner } from './installation.ts'

const SAMPLE_MAX = 20
const MB_BYTES = 1024 * 1024
const KEEP_MAX = 10_000

export const backupCliCommands: CliCommand[] = [
  {
    name: 'backup',
    usage: '<folder or s3://bucket/prefix> [--keep <n>] [--with-secret-key]',
    summary: 'Back up the database and the files, also while the service runs',
    details: `  <folder>           Folder of backups; it is created. Files that a former backup holds are not copied again.
  s3://…             Place in an S3-compatible store, with backup.s3.access_key_id and secret_access_key
                     (MAILHORN_BACKUP_S3_ACCESS_KEY_ID, …), endpoint and region.
  --keep <n>         Afterwards remove all but the newest n backups.
  --with-secret-key  Include the secret key, encrypted with backup.passphrase (MAILHORN_BACKUP_PASSPHRASE, or the
                     file that MAILHORN_BACKUP_PASSPHRASE_FILE names).`,
    options: { keep: { type: 'string' }, 'with-secret-key': { type: 'boolean' } },
    positionals: { min: 1, max: 1 },
    async run({ values, positionals, backupSettings }) {
      const keep = keepOf(values.keep)
      const settings = backupSettings(values['data-dir'] as string | undefined)
      const { dataDir, databaseUrl: url, clock, version, s3 } = settings
      const location = locate({ dataDir, url })
      if (!databaseExists(location))
        throw new CommandError(
          `no database in ${dataDir}: specify the data directory (data_dir or --data-dir)`,
        )
      if (existsSync(dataDir)) actAsOwner(dataDir)
      const options: BackupOptions = {
        location,
        dataDir,
        folder: isS3Address(positionals[0]!) ? positionals[0]! : resolve(positionals[0]!),
        s3,
        nowMs: clock.now(),
        version,
        keep,
        secret: values['with-secret-key'] === true ? secretToSeal(settings) : null,
      }
      const made = await createBackup(options, clock)
      const filesAre = location.kind === 'sqlite' ? 'data directory' : 'database'
      return madeResult(made, filesAre, keyWords(options, settings))
    },
  },
  {
    name: 'verify',
    usage: '<backup>',
    summary: 'Check a backup: hashes, database, schema, files and a sample of messages',
    details: `  <backup>  A backup, or a place of backups (a folder or s3://bucket/prefix): its newest one.
  A backup of PostgreSQL is read by pg_restore, without a server.
  Prints one line for each fault, and exits with code 1 if there is one. With backup.passphrase, the secret key is
  checked, too.`,
    positionals: { min: 1, max: 1 },
    async run({ positionals, backupSettings }) {
      const { passphrase, s3, clock } = backupSettings(undefined)
      const place = await openBackup(positionals[0]!, s3, clock)
      try {
        const verified = await verifyBackup(place, passphrase)
        const sample = verified.faults.length === 0 ? await sampleOf(place, verified) : null
        return verifiedResult(place, verified, sample)
      } finally {
        await place.close()
      }
    },
  },
]

/** @throws UsageError */
function keepOf(text: string | boolean | undefined): number | null {
  if (text === undefined) return null
  const keep = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : 0
  if (keep < 1 || keep > KEEP_MAX) throw new UsageError(`--keep must be a number from 1 to ${KEEP_MAX}`)
  return keep
}

/** @throws CommandError */
function secretToSeal({ dataDir, secretKey, passphrase }: BackupSettings) {
  if (secretKey !== null)
    throw new CommandError(
      'the secret key is the setting secret_key (MAILHORN_SECRET_KEY) and not in the data directory: keep it where your ' +
        'settings are kept, and leave out --with-secret-key',
    )
  if (passphrase === null)
    throw new CommandError(
      '--with-secret-key needs a passphrase: set MAILHORN_BACKUP_PASSPHRASE, or MAILHORN_BACKUP_PASSPHRASE_FILE to the ' +
        'name of a file that holds it',
    )
  const bytes = readSecret(dataDir)
  if (!bytes) throw new CommandError(`there is no ${join(dataDir, SECRET_FILE)}`)
  return { bytes, passphrase }
}

/** Says whether the backup has the secret key, without which its secrets cannot be decrypted. */
function keyWords({ secret }: Pick<BackupOptions, 'secret'>, { secretKey }: BackupSettings): string {
  if (secret) return 'Secret key: included, encrypted with the passphrase.'
  return secretKey !== null
    ? 'Secret key: not included, because it is the setting secret_key. Keep it with your other settings.'
    : `Secret key: not included. Copy ${SECRET_FILE} to a safe place, or use --with-secret-key.`
}

/** @param filesAre where the service has its files */
function madeResult(
  { path, databaseBytes, blobs, newBlobs, lostBlobs, removed, unrecorded }: MadeBackup,
  filesAre: string,
  key: string,
): CliResult {
  const lost = lostBlobs.map(
    ({ name, fault }) => `File ${name} is ${fault} in the ${filesAre} and not in the backup.`,
  )
  const lines = [
    `Backup ${path}`,
    `Database: ${inMb(databaseBytes)} MB. Files: ${blobs.count} (${inMb(blobs.bytes)} MB), ${newBlobs} of them new.`,
    key,
    ...removed.map(old => `Removed ${old}`),
    ...lost,
    ...(unrecorded === null
      ? []
      : [
          `The time of the backup was not stored in the data directory, and "mailhorn doctor" does not know it: ${unrecorded}.`,
        ]),
  ]
  return {
    json: {
      path,
      database_bytes: databaseBytes,
      blobs: { ...blobs, added: newBlobs },
      removed,
      lost_blobs: lostBlobs,
    },
    text: lines.join('\n'),
    isBad: lost.length > 0,
  }
}

function inMb(bytes: number): string {
  return (bytes / MB_BYTES).toFixed(1)
}

type Sample = Awaited<ReturnType<typeof rebuildSample>>

/** @returns null when the database has the schema of another version, so that its messages cannot be read */
async function sampleOf(place: BackupPlace, verified: VerifiedBackup): Promise<Sample | null> {
  const { manifest, secret } = verified
  if (pendingAfter(manifest.migrations).length > 0) return null
  if (manifest.postgres === null) return rebuiltIn(await place.file(DATABASE_COPY), place, secret)
  const folder = await mkdtemp(join(tmpdir(), 'mailhorn-verify-'))
  try {
    const file = join(folder, DATABASE_COPY)
    await writeDumpSample(await place.file(DATABASE_DUMP), file, SAMPLE_MAX)
    return await rebuiltIn(file, place, secret)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function rebuiltIn(databaseFile: string, place: BackupPlace, secret: Buffer | null): Promise<Sample> {
  const reader = openReader({ kind: 'sqlite', databaseFile, blobFolder: place.blobFolder })
  const { db, find, blobs } = reader
  const read: typeof blobs.read = async (from, hash) => {
    const row = await findBlob(from, hash)
    if (row && row.sizeBytes > INLINE_BYTES_MAX) await place.fetchBlob(blobName(hash))
    return blobs.read(from, hash)
  }
  try {
    const parts = { db, find, blobs: { ...blobs, read } }
    return await rebuildSample(parts, secret && createSecretKeys(secret), SAMPLE_MAX)
  } finally {
    await reader.db.destroy()
  }
}

function verifiedResult(
  place: BackupPlace,
  { manifest, ...verified }: VerifiedBackup,
  sample: Sample | null,
): CliResult {
  const faults = [...verified.faults, ...(sample?.faults ?? [])]
  const key = manifest.sealed_secret
    ? verified.secret
      ? 'opens'
      : 'was not checked: set backup.passphrase'
    : 'not included'
  const found = [
    `Backup ${place.path} of ${manifest.created_at}, made by version ${manifest.version}`,
    `Database: ${inMb(manifest.database.bytes)} MB. Files: ${manifest.blobs.count} (${inMb(manifest.blobs.bytes)} MB).`,
    sample === null
      ? 'Messages: not rebuilt, since the schema is that of another version.'
      : `Messages: ${sample.count} rebuilt${verified.secret ? `, ${sample.proven} equal to what was sent by their signatures` : ''}.`,
    `Secret key: ${key}.`,
    'No faults.',
  ]
  return {
    json: {
      path: place.path,
      created_at: manifest.created_at,
      version: manifest.version,
      has_secret_key: manifest.sealed_secret !== null,
      secret_key_opens: verified.secret !== null,
      messages: sample && { rebuilt: sample.count, proven: sample.proven },
      faults,
    },
    text: (faults.length > 0 ? faults : found).join('\n'),
    isBad: faults.length > 0,
  }
}
