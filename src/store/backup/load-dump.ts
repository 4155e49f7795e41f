/**
 * Restores the backup of a PostgreSQL database into an empty one. A service refuses the database until all of
 * it is there and the mail that may have been sent since is on hold.
 */
import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadingDatabase, openLoading, type StoreLocation } from '../opening/dialect.ts'
import { lockFolder } from '../opening/lock.ts'
import { readSecret, SECRET_FILE } from '../opening/secret-file.ts'
import { BackupFault, faultOf } from './backup-fault.ts'
import { hashOfFile } from './hashing.ts'
import { DATABASE_DUMP } from './layout.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { copyBlob, type Restored, type RestoreOptions, secretIn, storeFiles, writeSecret } from './restore.ts'

export interface LoadDumpOptions
  extends Pick<RestoreOptions, 'place' | 'dataDir' | 'passphrase' | 'skipsDamaged'> {
  location: StoreLocation & { kind: 'postgres' }
  /** ms since the epoch */
  nowMs: number
  /**
   * Holds the mail of the database, before a service can use it.
   * @param folder folder in place of the data folder, which is locked
   */
  prepare(folder: string, manifest: Manifest): Promise<void>
}

/** Size of a piece of a blob in the database. */
const PIECE_BYTES = 256 * 1024

/** @throws BackupFault; the database is empty then, as it was, unless it could not be reached any more */
export async function loadBackup(options: LoadDumpOptions): Promise<Restored> {
  const { place, dataDir, passphrase } = options
  const manifest = await readManifest(place)
  const secret = await secretIn(place, manifest, passphrase)
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    const lock = lockFolder(dataDir)
    const work = await mkdtemp(join(tmpdir(), 'mailhorn-restore-'))
    try {
      requireSameKey(dataDir, secret)
      const skipped = await loadAlone(options, { manifest, secret, work })
      return { manifest, hasSecret: secret !== null, skipped }
    } finally {
      await rm(work, { recursive: true, force: true })
      lock.release()
    }
  } catch (error) {
    throw faultOf(error, 'the restore failed')
  }
}

/** @throws BackupFault when the data folder has another secret key */
function requireSameKey(dataDir: string, secret: Buffer | null) {
  const known = secret && readSecret(dataDir)
  if (known && !known.equals(secret))
    throw new BackupFault(
      `${join(dataDir, SECRET_FILE)} is another secret key than that of the backup: move it away, or restore without the ` +
        'key by --without-secret-key',
    )
}

interface Parts {
  manifest: Manifest
  secret: Buffer | null
  /** Folder of temporary files. */
  work: string
}

/** Runs while the data folder is locked. @returns names of the files that were left out */
async function loadAlone(options: LoadDumpOptions, parts: Parts): Promise<string[]> {
  const { place, location } = options
  const { manifest } = parts
  const file = await place.file(DATABASE_DUMP)
  if ((await hashOfFile(file)).sha256 !== manifest.database.sha256)
    throw new BackupFault(`${place.path}/${DATABASE_DUMP} is damaged; use another backup`)
  const database = await openLoading(location.address, { file, schema: manifest.postgres!.schema })
  try {
    return await load(database, options, parts)
  } catch (error) {
    await database.abandon().catch(cause => {
      const reason = (faultOf(error, 'the restore failed') as Error).message
      throw new BackupFault(
        `${reason}. What was restored could not be removed (${cause.message}): drop the database, and create it again`,
        { cause: error },
      )
    })
    throw error
  } finally {
    await database.close()
  }
}

async function load(
  database: LoadingDatabase,
  options: LoadDumpOptions,
  { manifest, secret, work }: Parts,
): Promise<string[]> {
  const { place, dataDir, nowMs, prepare } = options
  await database.loadDump()
  const copy = join(work, 'blob')
  const skipped = await storeFiles(options, manifest, async name => {
    if (!(await copyBlob(place, name, copy))) return false
    await database.storeBlob(Buffer.from(name, 'hex'), () => piecesOf(copy), nowMs)
    await rm(copy)
    return true
  })
  await prepare(work, manifest)
  if (secret && readSecret(dataDir) === undefined) await writeSecret(dataDir, secret)
  await database.complete()
  return skipped
}

/** Opens the file when it is read. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>
}
