/**
 * Loads a dump and the large blobs of a backup into an empty PostgreSQL database. A table marks the database
 * until the end, so that no service starts on a part of a store, or before its mail was held.
 */
import { StartFault } from '../../lib/start-fault.ts'
import { describeAddress, type PostgresAddress } from './address.ts'
import { writePieces } from './blobs.ts'
import { openPool, type PostgresPool, type SqlQuery } from './connection.ts'
import { OWN_SCHEMA, quotedName, RESTORE_MARK } from './own-schema.ts'
import { forOperator, prepareDatabase, requireServer } from './start.ts'
import { outputOf, requireTool } from './tools.ts'

export interface LoadOptions {
  /** Path of the dump. */
  file: string
  /** Schema that the dump was made of. */
  schema: string
}

export interface LoadingDatabase {
  /** Loads the dump, all of it or nothing. */
  loadDump(): Promise<void>
  /**
   * Stores a large blob.
   * @param nowMs ms since the epoch
   */
  storeBlob(hash: Uint8Array, pieces: () => AsyncIterable<Uint8Array>, nowMs: number): Promise<void>
  /** Removes the mark, so that a service may start. What was stored is synced then. */
  complete(): Promise<void>
  /** Removes what was loaded. */
  abandon(): Promise<void>
  close(): Promise<void>
}

/** What was stored is synced with the removal of the mark. */
const SETTINGS = { synchronous_commit: 'off' }
/** Relations of the schema that are not part of an extension. */
const RELATIONS = `
  select c.oid, relname as name, relkind as kind from pg_class c
  where relnamespace = ${OWN_SCHEMA} and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    and not exists (select 1 from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
  order by relname`
const NAMES_SHOWN_MAX = 5

/**
 * Marks an empty database.
 * @throws StartFault when it is not empty, has another schema, or the server or `pg_restore` cannot be used
 */
export async function openLoading(
  address: PostgresAddress,
  { file, schema }: LoadOptions,
): Promise<LoadingDatabase> {
  const pool = openPool(address, { size: 1, settings: SETTINGS })
  try {
    await prepareDatabase(pool, address, async query => {
      const { major } = await requireServer(query, address)
      await requireTool('pg_restore', major)
      await requireSchema(query, schema)
      await requireEmpty(query, address)
      await query({ sql: `create table ${RESTORE_MARK} (started_at timestamptz not null default now())` })
    })
  } catch (error) {
    await pool.close()
    throw error
  }
  return loadingOver(pool, address, file)
}

function loadingOver(pool: PostgresPool, address: PostgresAddress, file: string): LoadingDatabase {
  const inTransaction = async (work: (query: SqlQuery) => Promise<unknown>) => {
    try {
      await pool.use(async ({ query }) => {
        await query({ sql: 'begin' })
        await work(query)
        await query({ sql: 'commit' })
      })
    } catch (error) {
      throw forOperator(error, address)
    }
  }
  return {
    async loadDump() {
      const options = ['--single-transaction', '--no-password', '--no-owner', '--no-privileges']
      const args = [...options, `--dbname=${connectionString(address)}`, file]
      for await (const _ of outputOf('pg_restore', { args, address })); // it prints nothing
    },
    storeBlob: (hash, pieces, nowMs) => inTransaction(query => writePieces(query, hash, pieces, nowMs)),
    complete: () =>
      inTransaction(query => query({ sql: `set local synchronous_commit = on; drop table ${RESTORE_MARK}` })),
    abandon: () => inTransaction(removeAll),
    close: () => pool.close(),
  }
}

async function requireEmpty(query: SqlQuery, address: PostgresAddress) {
  const names = (await relations(query)).map(({ name }) => name)
  if (names.length === 0) return
  const database = describeAddress(address)
  throw new StartFault(
    names.includes(RESTORE_MARK)
      ? `a restore into ${database} was interrupted: drop the database, create it again, and run \`mailhorn restore\` again`
      : `${database} is not empty (it holds ${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${names.length > NAMES_SHOWN_MAX ? ', …' : ''}): ` +
          'stop the service, create an empty database, and set database.url to it',
  )
}

async function requireSchema(query: SqlQuery, wanted: string) {
  const { rows } = await query({ sql: 'select current_schema() as schema' })
  const [{ schema }] = rows as [{ schema: string | null }]
  if (schema === wanted) return
  throw new StartFault(
    `the backup has its tables in the schema "${wanted}", and this database ` +
      `${schema === null ? 'has no schema for tables of the user' : `takes new tables into "${schema}"`}: create the schema "${wanted}", ` +
      `and make it the first of the user (alter role … set search_path = "${wanted}")`,
  )
}

async function relations(query: SqlQuery): Promise<{ name: string; kind: string }[]> {
  return (await query({ sql: RELATIONS })).rows as { name: string; kind: string }[]
}

/** Removes all tables: before the mark was there, the schema had none. */
async function removeAll(query: SqlQuery) {
  for (const { name, kind } of await relations(query))
    if (kind === 'r') await query({ sql: `drop table ${quotedName(name)} cascade` })
}

/** The name alone would be taken for a connection string if it contained `=`. */
function connectionString({ database }: PostgresAddress): string {
  return `dbname='${database.replaceAll(/[\\']/g, '\\$&')}'`
}
