/**
 * An empty SQLite database of the present schema. To copy it takes a thirtieth of the time of the migrations.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { openForWriting } from '../../src/store/sqlite/connection.ts'
import { kyselyOver } from '../../src/store/sqlite/kysely.ts'

/** When its migrations were applied. */
export const STORE_EPOCH = Date.UTC(2026, 10, 21, 13, 0, 0)

let made: Promise<Buffer> | undefined

/** @returns the bytes of the file, made once a process */
export function migratedDatabase(): Promise<Buffer> {
  made ??= make()
  return made
}

async function make(): Promise<Buffer> {
  // A database in memory would not be in WAL mode.
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-empty-'))
  const connection = openForWriting(join(folder, 'empty.db'))
  connection.raw.exec('begin')
  await migrate(kyselyOver(connection) as unknown as Kysely<unknown>, 'sqlite', STORE_EPOCH)
  connection.raw.exec('commit')
  const bytes = connection.raw.serialize()
  connection.close()
  rmSync(folder, { recursive: true })
  return bytes
}
