/** Read access to a PostgreSQL store. */

import { createDrafts } from '../blobs/drafts.ts'
import type { Find, Reader } from '../reading/read.ts'
import type { PostgresAddress } from './address.ts'
import { createBlobRows } from './blobs.ts'
import { readColumnTypes } from './column-types.ts'
import { openPool, READING } from './connection.ts'
import { kyselyOver, readTogetherOver, snapshotOver } from './kysely.ts'
import { postgresRows, rowStatements } from './rows.ts'

/** Number of connections per thread. */
const CONNECTIONS = 3

export interface PostgresLocation {
  address: PostgresAddress
  /** Folder that contains drafts only. */
  blobFolder: string
}

export function openPostgresReader(
  { address, blobFolder }: PostgresLocation,
  now: () => number = Date.now,
): Reader {
  const pool = openPool(address, { size: CONNECTIONS, settings: READING })
  return {
    db: kyselyOver(pool.query, pool.close),
    find: createFind(pool.query),
    readTogether: readTogetherOver(pool),
    snapshot: snapshotOver(pool),
    blobs: createBlobRows(pool, createDrafts(blobFolder), now),
  }
}

/** Creates `find`, which reads the column types before its first query, and again if that failed. */
function createFind(query: Parameters<typeof readColumnTypes>[0]): Find {
  let finding: Promise<Find> | undefined
  const prepare = async () => postgresRows(query, rowStatements(await readColumnTypes(query))).find
  return async (table, keys, columns) => {
    finding ??= prepare().catch(error => {
      finding = undefined
      throw error
    })
    return (await finding)(table, keys, columns)
  }
}
