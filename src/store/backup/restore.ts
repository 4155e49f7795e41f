/**
 * Restores a backup into an empty data folder. The database is written under another name and gets its own
 * last, once the caller has held the mail that may have been sent since. The service refuses a folder in
 * which a restore was interrupted.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { synced } from '../../lib/synced.ts'
import { blobPath } from '../blobs/blobs.ts'
import { codeOf } from '../model/errors.ts'
import { SECRET_FILE } from '../opening/secret-file.ts'
import { RESTORING } from '../opening/start-check.ts'
import { BackupFault, faultOf } from './backup-fault.ts'
import { readBlobList } from './blob-list.ts'
import { hashOfFile } from './hashing.ts'
import { type BackupPlace, BLOB_LIST, DATABASE_COPY, SEALED_SECRET } from './layout.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { requireRoom } from './room.ts'
import { openSealedSecret } from './sealed-secret.ts'

export interface RestoreOptions {
  place: BackupPlace
  dataDir: string
  /** Path that the database gets. */
  databaseFile: string
  /** Folder of stored files. */
  blobFolder: string
  /** Passphrase of the secret key; null when it is not to be restored. */
  passphrase: string | null
  /** Whether files of the backup that are missing or damaged are left out. */
  skipsDamaged: boolean
  /**
   * Prepares the database, which has another name yet, before a service can use it.
   * @param file path of the database
   */
  prepare(file: string, manifest: Manifest): Promise<void>
}

export interface Restored {
  manifest: Manifest
  hasSecret: boolean
  /** Names of the files that were left out. */
  skipped: string[]
}

/** @throws BackupFault; nothing is left in the data folder then */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { place, dataDir, passphrase } = options
  const manifest = await readManifest(place)
  const secret = await secretIn(place, manifest, passphrase)
  requireEmpty(dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  requireRoom(dataDir, manifest.database.bytes + manifest.blobs.bytes, 'the restore')
  try {
    const skipped = await fill(options, manifest, secret)
    await giveToOwner(dataDir)
    return { manifest, hasSecret: secret !== null, skipped }
  } catch (error) {
    for (const name of await readdir(dataDir)) await rm(join(dataDir, name), { recursive: true, force: true })
    throw faultOf(error, `the restore to ${dataDir} failed`)
  }
}

/**
 * @returns the secret key; null when the backup has none, or it is not to be restored
 * @throws BackupFault when the passphrase is wrong
 */
export async function secretIn(
  place: BackupPlace,
  manifest: Manifest,
  passphrase: string | null,
): Promise<Buffer | null> {
  if (manifest.sealed_secret === null || passphrase === null) return null
  return openSealedSecret(readFileSync(await place.file(SEALED_SECRET), 'utf8'), passphrase)
}

/** @throws BackupFault */
function requireEmpty(dataDir: string) {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : []
  if (names.length === 0) return
  throw new BackupFault(
    `${dataDir} is not empty (it holds ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}): stop the service, and ` +
      'move the folder away or name another one with --into',
  )
}

/** @returns names of the files that were left out */
async function fill(options: RestoreOptions, manifest: Manifest, secret: Buffer | null): Promise<string[]> {
  const { place, dataDir, databaseFile, blobFolder, prepare } = options
  await mkdir(dirname(databaseFile), { recursive: true, mode: 0o700 })
  const restoring = databaseFile + RESTORING
  await place.copy(DATABASE_COPY, restoring)
  if ((await hashOfFile(restoring)).sha256 !== manifest.database.sha256)
    throw new BackupFault(`${place.path}/${DATABASE_COPY} is damaged; use another backup`)
  await synced(restoring)
  const folders = new Set<string>()
  const skipped = await storeFiles(options, manifest, name => {
    const target = blobPath(blobFolder, name)
    folders.add(dirname(target))
    return copyBlob(place, name, target)
  })
  for (const folder of folders) if (existsSync(folder)) await synced(folder)
  if (secret) await writeSecret(dataDir, secret)
  await prepare(restoring, manifest)
  await removeLog(restoring)
  await synced(restoring)
  await rename(restoring, databaseFile)
  for (const folder of new Set([dirname(databaseFile), dataDir, dirname(dataDir)])) await synced(folder)
  if (existsSync(blobFolder)) await synced(blobFolder)
  return skipped
}

/** @throws when there is a file already */
export async function writeSecret(dataDir: string, secret: Buffer): Promise<void> {
  const contents = `${secret.toString('hex')}\n`
  await writeFile(join(dataDir, SECRET_FILE), contents, { flag: 'wx', mode: 0o600, flush: true })
  await synced(dataDir)
}

/** Removes the empty write-ahead log, which belongs to the former name of the database, and its index. */
export async function removeLog(database: string): Promise<void> {
  const log = `${database}-wal`
  if (existsSync(log) && (await stat(log)).size > 0) throw new Error(`${log} still has contents`)
  await rm(log, { force: true })
  await rm(`${database}-shm`, { force: true })
}

/**
 * Stores all files of a backup but those that it lacks itself.
 * @param store stores a file, and returns false when it is missing or damaged
 * @returns names of the files that were left out
 * @throws BackupFault
 */
export async function storeFiles(
  { place, skipsDamaged }: Pick<RestoreOptions, 'place' | 'skipsDamaged'>,
  manifest: Manifest,
  store: (name: string) => Promise<boolean>,
): Promise<string[]> {
  const shown = `${place.path}/${BLOB_LIST}`
  const list = await place.file(BLOB_LIST)
  if ((await hashOfFile(list)).sha256 !== manifest.blob_list.sha256)
    throw new BackupFault(`${shown} is damaged; use another backup`)
  const lost = new Set(manifest.lost_blobs.map(({ name }) => name))
  const skipped: string[] = []
  for await (const name of readBlobList(list, shown)) {
    if (lost.has(name)) continue
    if (await store(name)) continue
    if (!skipsDamaged)
      throw new BackupFault(
        `${place.blobPath(name)} is missing or damaged: use another backup, or restore without such files by --skip-damaged`,
      )
    skipped.push(name)
  }
  return skipped
}

/** @returns false when the file is missing or damaged, and is not there then */
export async function copyBlob(place: BackupPlace, name: string, target: string): Promise<boolean> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  try {
    await place.copyBlob(name, target)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  if ((await hashOfFile(target)).sha256 !== name) {
    await rm(target)
    return false
  }
  await synced(target)
  return true
}

/** Root restores for the owner of the data folder, who could not access root's files. */
export async function giveToOwner(dataDir: string): Promise<void> {
  const { uid, gid } = await stat(dataDir)
  if (process.getuid?.() !== 0 || uid === 0) return
  for (const entry of await readdir(dataDir, { recursive: true })) await chown(join(dataDir, entry), uid, gid)
}
