/** Checks a backup completely: hashes, the database's own checks, its schema, and every stored file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecretKeys } from '../../lib/secret-keys.ts'
import { blobPath } from '../blobs/blobs.ts'
import { sha256 } from '../blobs/staged.ts'
import { requireKnownVersion } from '../migrations/migrate.ts'
import { codeOf } from '../model/errors.ts'
import {
  blobFilesInCopy,
  faultsInCopy,
  inlineBlobsInCopy,
  isDamaged,
  migrationsInCopy,
  settingInCopy,
} from '../opening/dialect.ts'
import { opensSecretCheck, SECRET_CHECK_SETTING } from '../opening/secret-file.ts'
import { BackupFault } from './backup-fault.ts'
import { blobListPieces } from './blob-list.ts'
import { hashOf, hashOfFile } from './hashing.ts'
import { type BackupPlace, BLOB_LIST, DATABASE_COPY, MANIFEST_FILE, SEALED_SECRET } from './layout.ts'
import { type HashedFile, type Manifest, readManifest } from './manifest.ts'
import { openSealedSecret } from './sealed-secret.ts'

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
  const manifest = readManifest(place.path)
  const faults: string[] = []
  await checkHash(place, DATABASE_COPY, manifest.database, faults)
  await checkHash(place, BLOB_LIST, manifest.blob_list, faults)
  if (manifest.sealed_secret) await checkHash(place, SEALED_SECRET, manifest.sealed_secret, faults)
  const copy = join(place.path, DATABASE_COPY)
  const isReadable = await orFault(faults, `${copy} cannot be read`, async () => {
    faults.push(...faultsInCopy(copy).map(fault => `${copy}: ${fault}`))
    checkSchema(copy, manifest, faults)
    await checkFiles(place, manifest, faults)
    for (const { name, body } of inlineBlobsInCopy(copy))
      if (Buffer.from(sha256(body!)).toString('hex') !== name)
        faults.push(`${copy}: the stored file ${name} has other bytes`)
  })
  for (const { name, fault } of manifest.lost_blobs)
    faults.push(`file ${name} was ${fault} in the data folder when the backup was made`)
  const secret = isReadable && passphrase !== null ? checkSecret(place, manifest, passphrase, faults) : null
  return { manifest, faults, secret }
}

async function checkHash({ path }: BackupPlace, file: string, wanted: HashedFile, faults: string[]) {
  const full = join(path, file)
  await orFault(faults, `${full} cannot be read`, async () => {
    const found = await hashOfFile(full)
    if (found.bytes !== wanted.bytes)
      faults.push(`${full} has ${found.bytes} bytes, and ${wanted.bytes} were written`)
    else if (found.sha256 !== wanted.sha256)
      faults.push(`${full} is damaged: its SHA-256 is not that of ${MANIFEST_FILE}`)
  })
}

function checkSchema(copy: string, manifest: Manifest, faults: string[]) {
  const applied = migrationsInCopy(copy)
  if (applied.join() !== manifest.migrations.join())
    faults.push(`${copy} has another schema than ${MANIFEST_FILE} says: ${applied.join(', ')}`)
  try {
    requireKnownVersion(applied)
  } catch (error) {
    faults.push(`${copy}: ${(error as Error).message}`)
  }
}

/** Compares the list with the database, and every file with its name. */
async function checkFiles(place: BackupPlace, manifest: Manifest, faults: string[]) {
  const copy = join(place.path, DATABASE_COPY)
  if (hashOf(blobListPieces(blobFilesInCopy(copy))) !== manifest.blob_list.sha256)
    faults.push(`${join(place.path, BLOB_LIST)} does not list the files that the database names`)
  const known = new Set(manifest.lost_blobs.map(({ name }) => name))
  for (const { name, sizeBytes } of blobFilesInCopy(copy)) {
    if (known.has(name)) continue
    const path = blobPath(place.pool, name)
    await orFault(faults, `${path} cannot be read`, async () => {
      const found = await hashOfFile(path)
      if (found.bytes !== sizeBytes) faults.push(`${path} has ${found.bytes} bytes instead of ${sizeBytes}`)
      else if (found.sha256 !== name) faults.push(`${path} is damaged: its SHA-256 is not its name`)
    })
  }
}

function checkSecret(
  place: BackupPlace,
  manifest: Manifest,
  passphrase: string,
  faults: string[],
): Buffer | null {
  if (!manifest.sealed_secret) return null
  const path = join(place.path, SEALED_SECRET)
  try {
    const secret = openSealedSecret(readFileSync(path, 'utf8'), passphrase)
    const check = settingInCopy(join(place.path, DATABASE_COPY), SECRET_CHECK_SETTING)
    if (check === undefined || opensSecretCheck(createSecretKeys(secret), check)) return secret
    faults.push(`${path} holds another secret key than the one that the database was written with`)
  } catch (error) {
    if (!(error instanceof BackupFault) && codeOf(error) === '') throw error
    faults.push(`${path}: ${(error as Error).message}`)
  }
  return null
}

/** @returns whether the check could be made; errors of the disk and of the database become a fault */
async function orFault(faults: string[], what: string, check: () => Promise<void>): Promise<boolean> {
  try {
    await check()
    return true
  } catch (error) {
    const code = codeOf(error)
    if (!isDamaged(error) && !/^(?:E[A-Z]+|SQLITE_)/.test(code)) throw error
    faults.push(
      code === 'ENOENT'
        ? what.replace('cannot be read', 'is missing')
        : `${what}: ${(error as Error).message}`,
    )
    return false
  }
}
