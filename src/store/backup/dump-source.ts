/**
 * Copies a PostgreSQL store into a backup: a dump by `pg_dump` without the pieces of large blobs, which
 * become files that all backups share, as on SQLite. Dump and files are read in one snapshot of the database,
 * so that every file that the dump names is in the backup.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { dumpBytes, type PostgresSnapshot, readSnapshot, type StoreLocation } from '../opening/dialect.ts'
import { blobListPieces } from './blob-list.ts'
import { writeHashed } from './hashing.ts'
import { BLOB_LIST, DATABASE_DUMP } from './layout.ts'
import type { BackupDraft } from './repository.ts'
import { addNamed, type StoreCopy, type StoreSource } from './store-copy.ts'

type PostgresStore = StoreLocation & { kind: 'postgres' }

/** File in the draft to which the pieces of one blob are written. */
const PUT_TOGETHER = 'put-together-blob'

/** @throws StartFault when the server or `pg_dump` cannot be used */
export async function dumpSource({ address }: PostgresStore): Promise<StoreSource> {
  let snapshot: PostgresSnapshot | undefined
  return {
    bytes: await dumpBytes(address),
    find: (name, work) => putTogether(snapshot!, name, join(work, PUT_TOGETHER)),
    copyTo: draft =>
      readSnapshot(address, async opened => {
        snapshot = opened
        return copySnapshot(opened, draft)
      }),
  }
}

async function copySnapshot(snapshot: PostgresSnapshot, { work, pool }: BackupDraft): Promise<StoreCopy> {
  const { migrations, version, schema } = snapshot
  const database = await writeHashed(join(work, DATABASE_DUMP), snapshot.dump())
  const { blobs, added, lost } = await addNamed(snapshot.largeBlobs(), pool)
  await rm(join(work, PUT_TOGETHER), { force: true })
  const pieces = blobListPieces(snapshot.largeBlobs())
  return {
    ...{ migrations, database, blobs, added, lost_blobs: lost },
    postgres: { version, schema },
    blob_list: await writeHashed(join(work, BLOB_LIST), pieces),
  }
}

/** Writes a blob to a new file. @returns its path; undefined when all its pieces are missing */
async function putTogether(
  snapshot: PostgresSnapshot,
  name: string,
  path: string,
): Promise<string | undefined> {
  await rm(path, { force: true }) // the former file may be linked into the pool
  const { bytes } = await writeHashed(path, snapshot.pieces(name))
  return bytes === 0 ? undefined : path
}
