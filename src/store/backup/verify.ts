/** Checks a backup completely: hashes, the database's own checks, its schema, and every stored file. */
import { readFileSync } from 'node:fs'
import { createSecretKeys } from '../../lib/secret-keys.ts'
import { requireKnownVersion } from '../migrations/migrate.ts'
import { codeOf } from '../model/errors.ts'
import { isDamaged } from '../opening/dialect.ts'
import { opensSecretCheck, SECRET_CHECK_SETTING } from '../opening/secret-file.ts'
import { BackupFault, faultOf } from './backup-fault.ts'
import { blobListPieces } from './blob-list.ts'
import { type CopyContents, readCopy, readDump } from './copy-contents.ts'
import { type HashedFile, hashOf, hashOfFile } from './hashing.ts'
import { type BackupPlace, BLOB_LIST, MANIFEST_FILE, SEALED_SECRET } from './layout.ts'
import { databaseNameIn, type Manifest, readManifest } from './manifest.ts'
import { openSealedSecret } from './sealed-secret.ts'

/** Function of the process of backups. */
export const VERIFY_BACKUP = 'verifyBackup'

export interface VerifiedBackup {
  manifest: Manifest
  /** One line each. */
  faults: string[]
  /** The secret key of the backup; null when it has none, or none can be opened. */
  secret: Buffer | null
}

/**
 * @param passphrase of the sealed secret key; null when it is not given, and the key is not tried then
 * @throws BackupFault when the manifest is missing, damaged or newer
 */
export async function verifyBackup(place: BackupPlace, passphrase: string | null): Promise<VerifiedBackup> {
  try {
    return await verified(place, passphrase)
  } catch (error) {
    throw faultOf(error, `${place.path} cannot be checked`)
  }
}

async function verified(place: BackupPlace, passphrase: string | null): Promise<VerifiedBackup> {
  const manifest = await readManifest(place)
  const faults: string[] = []
  const file = databaseNameIn(manifest)
  const isWhole = await checkHash(place, file, manifest.database, faults)
  await checkHash(place, BLOB_LIST, manifest.blob_list, faults)
  if (manifest.sealed_secret) await checkHash(place, SEALED_SECRET, manifest.sealed_secret, faults)
  const shown = `${place.path}/${file}`
  let contents: CopyContents | undefined
  // pg_restore may fail in any way on a damaged dump
  if (manifest.postgres === null || isWhole)
    await orFault(faults, `${shown} cannot be read`, async () => {
      const path = await place.file(file)
      const found = manifest.postgres === null ? readCopy(path) : await readDump(path)
      faults.push(...found.faults.map(fault => `${shown}: ${fault}`))
      checkSchema(found.migrations, { manifest, shown, faults })
      await checkFiles(place, found, { manifest, faults })
      for (const name of found.damaged()) faults.push(`${shown}: the stored file ${name} has other bytes`)
      contents = found
    })
  for (const { name, fault } of manifest.lost_blobs)
    faults.push(`file ${name} was ${fault} in the data folder when the backup was made`)
  const secret =
    contents && manifest.sealed_secret && passphrase !== null
      ? await checkSecret(place, contents, passphrase, faults)
      : null
  return { manifest, faults, secret }
}

/** @returns whether the file is as it was written */
async function checkHash(
  place: BackupPlace,
  file: string,
  wanted: HashedFile,
  faults: string[],
): Promise<boolean> {
  const full = `${place.path}/${file}`
  const before = faults.length
  await orFault(faults, `${full} cannot be read`, async () => {
    const found = await hashOfFile(await place.file(file))
    if (found.bytes !== wanted.bytes)
      faults.push(`${full} has ${found.bytes} bytes, and ${wanted.bytes} were written`)
    else if (found.sha256 !== wanted.sha256)
      faults.push(`${full} is damaged: its SHA-256 is not that of ${MANIFEST_FILE}`)
  })
  return faults.length === before
}

function checkSchema(
  applied: readonly string[],
  { manifest, shown, faults }: { manifest: Manifest; shown: string; faults: string[] },
) {
  if (applied.join() !== manifest.migrations.join())
    faults.push(`${shown} has another schema than ${MANIFEST_FILE} says: ${applied.join(', ')}`)
  try {
    requireKnownVersion(applied)
  } catch (error) {
    faults.push(`${shown}: ${(error as Error).message}`)
  }
}

/** Compares the list with the database, and every file with its name. */
async function checkFiles(
  place: BackupPlace,
  contents: CopyContents,
  { manifest, faults }: { manifest: Manifest; faults: string[] },
) {
  if ((await hashOf(blobListPieces(contents.files()))) !== manifest.blob_list.sha256)
    faults.push(`${place.path}/${BLOB_LIST} does not list the files that the database names`)
  const known = new Set(manifest.lost_blobs.map(({ name }) => name))
  for (const { name, sizeBytes } of contents.files()) {
    if (known.has(name)) continue
    const path = place.blobPath(name)
    await orFault(faults, `${path} cannot be read`, async () => {
      const found = await place.hashOfBlob(name)
      if (found.bytes !== sizeBytes) faults.push(`${path} has ${found.bytes} bytes instead of ${sizeBytes}`)
      else if (found.sha256 !== name) faults.push(`${path} is damaged: its SHA-256 is not its name`)
    })
  }
}

async function checkSecret(
  place: BackupPlace,
  contents: CopyContents,
  passphrase: string,
  faults: string[],
): Promise<Buffer | null> {
  const path = `${place.path}/${SEALED_SECRET}`
  try {
    const sealed = readFileSync(await place.file(SEALED_SECRET), 'utf8')
    const secret = openSealedSecret(sealed, passphrase)
    const check = contents.setting(SECRET_CHECK_SETTING)
    if (check === undefined || opensSecretCheck(createSecretKeys(secret), check)) return secret
    faults.push(`${path} holds another secret key than the one that the database was written with`)
  } catch (error) {
    if (!(error instanceof BackupFault) && codeOf(error) === '') throw error
    faults.push(`${path}: ${(error as Error).message}`)
  }
  return null
}

/** Errors of the disk and of the database become a fault. */
async function orFault(faults: string[], what: string, check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    const code = codeOf(error)
    if (!isDamaged(error) && !/^(?:E[A-Z]+|SQLITE_)/.test(code)) throw error
    faults.push(
      code === 'ENOENT'
        ? what.replace('cannot be read', 'is missing')
        : `${what}: ${(error as Error).message}`,
    )
  }
}
