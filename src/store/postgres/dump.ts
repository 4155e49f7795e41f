/**
 * Reads a PostgreSQL store as of one commit: a dump, and the large blobs, whose pieces the dump leaves out.
 * The service goes on writing meanwhile.
 */
import { StartFault } from '../../lib/start-fault.ts'
import { blobName } from '../blobs/staged.ts'
import { describeAddress, type PostgresAddress } from './address.ts'
import { openPool, READING, type SqlQuery } from './connection.ts'
import { kyselyOver } from './kysely.ts'
import { OWN_SCHEMA, quotedName, RESTORE_MARK } from './own-schema.ts'
import { forOperator, requireServer } from './start.ts'
import { outputOf, requireTool } from './tools.ts'

/** A large blob, which is stored in pieces. */
export interface LargeBlob {
  /** SHA-256 in hex. */
  name: string
  sizeBytes: number
}

export interface PostgresSnapshot {
  /** Version of the server, such as `15.18`. */
  version: string
  /** Name of the schema that holds the tables. */
  schema: string
  /** Names of the migrations that were applied, in order. */
  migrations: string[]
  /** Runs `pg_dump`, and yields an archive in its custom format. */
  dump(): AsyncGenerator<Buffer>
  /** Lists the large blobs that rows name, in the order of their names. */
  largeBlobs(): AsyncGenerator<LargeBlob>
  /** Reads the pieces of a large blob; none when they are missing. */
  pieces(name: string): AsyncGenerator<Uint8Array>
}

/** Table whose rows are not dumped, because its pieces become files. */
const PIECES = 'blob_pieces'
const NAMES_PER_QUERY = 1_000
/** The transaction waits while `pg_dump` runs, and while files are uploaded. */
const SETTINGS = { ...READING, idle_in_transaction_session_timeout: '0' }
/** The fastest level: the contents are mostly mail, and the next levels are slow and save little. */
const COMPRESSION = '1'
/** A migration that runs at the same time keeps the tables locked. */
const LOCK_WAIT = '60s'

/**
 * @returns size of what a dump contains, without compression
 * @throws StartFault when the server or `pg_dump` cannot be used
 */
export function dumpBytes(address: PostgresAddress): Promise<number> {
  return reading(address, async query => {
    const { major } = await requireServer(query, address)
    await requireTool('pg_dump', major)
    const { rows } = await query({
      sql: `select coalesce(sum(pg_table_size(oid)), 0) as bytes from pg_class
            where relkind = 'r' and relnamespace = ${OWN_SCHEMA} and relname <> '${PIECES}'`,
    })
    return (rows as { bytes: number }[])[0]!.bytes
  })
}

/** @throws StartFault when the server cannot be used, or the database holds no complete store */
export function readSnapshot<T>(
  address: PostgresAddress,
  work: (snapshot: PostgresSnapshot) => Promise<T>,
): Promise<T> {
  return reading(address, async query => {
    const { version } = await requireServer(query, address)
    await query({ sql: 'begin isolation level repeatable read read only' })
    const [{ id, schema, owner }] = (await rowsOf(
      query,
      `select pg_export_snapshot() as id, current_schema() as schema,
         (select relowner::regrole::text from pg_class
          where relname = 'migrations' and relnamespace = ${OWN_SCHEMA}) as owner`,
    )) as [{ id: string; schema: string; owner: string | null }]
    if (owner === null)
      throw new StartFault(`${describeAddress(address)} is empty: start the service once to initialize it`)
    const tables = await tablesIn(query)
    if (tables.includes(RESTORE_MARK))
      throw new StartFault(`${describeAddress(address)} is incomplete: a restore into it was interrupted`)
    const migrations = await rowsOf(query, 'select name from migrations order by name')
    const result = await work({
      ...{ version, schema },
      migrations: migrations.map(({ name }) => name as string),
      dump: () => outputOf('pg_dump', { args: dumpArgs({ id, schema, tables }), address }),
      largeBlobs: () => largeBlobs(query),
      pieces: name => pieces(query, Buffer.from(name, 'hex')),
    })
    await query({ sql: 'commit' })
    return result
  })
}

async function reading<T>(address: PostgresAddress, work: (query: SqlQuery) => Promise<T>): Promise<T> {
  const pool = openPool(address, { size: 1, settings: SETTINGS })
  try {
    return await pool.use(({ query }) => work(query))
  } catch (error) {
    throw forOperator(error, address)
  } finally {
    await pool.close()
  }
}

async function rowsOf(query: SqlQuery, sql: string): Promise<Record<string, unknown>[]> {
  return (await query({ sql })).rows as Record<string, unknown>[]
}

/** Lists the tables of the store: a schema may hold those of others, which have another owner. */
async function tablesIn(query: SqlQuery): Promise<string[]> {
  const rows = await rowsOf(
    query,
    `select relname as name from pg_class
     where relkind in ('r', 'p') and relnamespace = ${OWN_SCHEMA}
       and relowner = (select relowner from pg_class where relname = 'migrations' and relnamespace = ${OWN_SCHEMA})
     order by relname`,
  )
  return rows.map(({ name }) => name as string)
}

function dumpArgs({ id, schema, tables }: { id: string; schema: string; tables: readonly string[] }) {
  const quoted = (name: string) => `${quotedName(schema)}.${quotedName(name)}`
  return [
    ...['--format=custom', `--compress=${COMPRESSION}`, '--no-password', '--no-owner', '--no-privileges'],
    ...[`--snapshot=${id}`, `--lock-wait-timeout=${LOCK_WAIT}`, `--exclude-table-data=${quoted(PIECES)}`],
    ...tables.map(name => `--table=${quoted(name)}`),
  ]
}

async function* largeBlobs(query: SqlQuery): AsyncGenerator<LargeBlob> {
  const db = kyselyOver(query)
  for (let last: Uint8Array = new Uint8Array(0), more = true; more; ) {
    const rows = await db
      .selectFrom('blobs')
      .select(['hash', 'sizeBytes'])
      .where('body', 'is', null)
      .where('hash', '>', last)
      .orderBy('hash')
      .limit(NAMES_PER_QUERY)
      .execute()
    for (const { hash, sizeBytes } of rows) yield { name: blobName(hash), sizeBytes }
    more = rows.length === NAMES_PER_QUERY
    last = rows.at(-1)?.hash ?? last
  }
}

async function* pieces(query: SqlQuery, hash: Uint8Array): AsyncGenerator<Uint8Array> {
  const db = kyselyOver(query)
  for (let number = 0; ; number++) {
    const piece = await db
      .selectFrom('blobPieces')
      .select('body')
      .where('hash', '=', hash)
      .where('number', '=', number)
      .executeTakeFirst()
    if (!piece) return
    yield piece.body
  }
}
