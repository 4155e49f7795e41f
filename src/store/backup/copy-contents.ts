/** Reads what a check of a backup needs of its database, of whichever kind it is. */
import { blobName, sha256 } from '../blobs/staged.ts'
import {
  blobFilesInCopy,
  contentsOfDump,
  faultsInCopy,
  inlineBlobsInCopy,
  migrationsInCopy,
  settingInCopy,
} from '../opening/dialect.ts'

export interface CopyContents {
  /** Faults that the database itself finds, one line each. */
  faults: string[]
  /** Names of the migrations that were applied, in order. */
  migrations: string[]
  /** Lists the blobs whose bytes are in files of the backup, in the order of their names. */
  files(): Iterable<{ name: string; sizeBytes: number }>
  /** Lists the blobs in the database itself that have other bytes than their names say. */
  damaged(): Iterable<string>
  setting(key: string): string | undefined
}

/** @param file path of a SQLite database */
export function readCopy(file: string): CopyContents {
  return {
    faults: faultsInCopy(file),
    migrations: migrationsInCopy(file),
    files: () => blobFilesInCopy(file),
    damaged: () => damagedIn(file),
    setting: key => settingInCopy(file, key),
  }
}

function* damagedIn(file: string): Generator<string> {
  for (const { name, body } of inlineBlobsInCopy(file)) if (blobName(sha256(body!)) !== name) yield name
}

/**
 * @param file path of a dump
 * @throws StartFault when `pg_restore` is missing, or cannot read the file
 */
export async function readDump(file: string): Promise<CopyContents> {
  const { migrations, settings, largeBlobs, damagedBlobs } = await contentsOfDump(file)
  return {
    ...{ faults: [], migrations },
    files: () => largeBlobs,
    damaged: () => damagedBlobs,
    setting: key => settings.get(key),
  }
}
