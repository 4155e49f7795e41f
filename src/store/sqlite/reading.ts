/** Read access to a SQLite store. */

import { createBlobFiles } from '../blobs/blobs.ts'
import type { Reader } from '../reading/read.ts'
import { openForReading } from './connection.ts'
import { kyselyOver, readTogetherOver, snapshotOver } from './kysely.ts'
import { sqliteRows } from './rows.ts'

export interface SqliteLocation {
  databaseFile: string
  blobFolder: string
}

export function openSqliteReader({ databaseFile, blobFolder }: SqliteLocation, now?: () => number): Reader {
  const connection = openForReading(databaseFile)
  const db = kyselyOver(connection)
  return {
    db,
    find: sqliteRows(connection).find,
    readTogether: readTogetherOver(connection),
    snapshot: snapshotOver(connection, db),
    blobs: createBlobFiles(blobFolder, now),
  }
}
