/** Checks that a PostgreSQL database is usable and has one process at a time migrate it. */
import { StartFault } from '../../lib/start-fault.ts'
import { StorageUnavailable } from '../model/command.ts'
import { codeOf } from '../model/errors.ts'
import type { Inspection } from '../model/inspection.ts'
import { describeAddress, type PostgresAddress } from './address.ts'
import { openPool, type PostgresPool, READING, type SqlQuery } from './connection.ts'

const MAJOR_VERSION_MIN = 14
/** Encodings that can hold any text. SQL_ASCII stores the bytes unchanged. */
const ENCODINGS = ['UTF8', 'SQL_ASCII']
const LOCK = '1886350436, 2'

/**
 * Aggregates `min` and `max` of `bytea`, which PostgreSQL has from version 18 on only. Queries use them for
 * ids.
 */
const BYTEA_AGGREGATES = (['min', 'max'] as const).map(name => {
  const pick = name === 'min' ? 'least' : 'greatest'
  return `
    create or replace function mailhorn_${pick}(a bytea, b bytea) returns bytea
      language sql immutable strict parallel safe as 'select ${pick}(a, b)';
    create aggregate ${name}(bytea) (
      sfunc = mailhorn_${pick}, stype = bytea, sortop = ${name === 'min' ? '<' : '>'}, parallel = safe)`
})

/**
 * Runs `work` in one transaction under a lock that no other use has.
 * @throws StartFault for the operator when the server is unreachable, refuses the user, has no such database,
 * is too old, has another encoding, or denies a necessary right
 */
export async function prepareDatabase<T>(
  pool: PostgresPool,
  address: PostgresAddress,
  work: (query: SqlQuery) => Promise<T>,
): Promise<T> {
  try {
    return await pool.use(async ({ query }) => {
      await requireServer(query, address)
      await query({ sql: `begin; select pg_advisory_xact_lock(${LOCK})` })
      await createAggregates(query)
      const result = await work(query)
      await query({ sql: 'commit' })
      return result
    })
  } catch (error) {
    throw forOperator(error, address)
  }
}

/**
 * Reads a database before a start.
 * @throws StartFault for the operator, as `prepareDatabase` does
 */
export async function inspectPostgres<T>(address: PostgresAddress, inspect: Inspection<T>): Promise<T> {
  const pool = openPool(address, { size: 1, settings: READING })
  try {
    return await pool.use(async ({ query }) => {
      await requireServer(query, address)
      return inspect(async sql => (await query({ sql })).rows as Record<string, unknown>[])
    })
  } catch (error) {
    throw forOperator(error, address)
  } finally {
    await pool.close()
  }
}

/**
 * @returns version of the server, such as `15.18`, and its first number
 * @throws StartFault when it is too old, or the database has an encoding that cannot hold all text
 */
export async function requireServer(
  query: SqlQuery,
  address: PostgresAddress,
): Promise<{ major: number; version: string }> {
  const { rows } = await query({
    sql: `select current_setting('server_version_num')::int / 10000 as major, current_setting('server_version') as version,
            current_setting('server_encoding') as encoding`,
  })
  const [{ major, version, encoding }] = rows as [{ major: number; version: string; encoding: string }]
  if (major < MAJOR_VERSION_MIN)
    throw new StartFault(
      `${describeAddress(address)} runs on PostgreSQL ${version}; Mailhorn needs ${MAJOR_VERSION_MIN} or newer`,
    )
  if (!ENCODINGS.includes(encoding))
    throw new StartFault(
      `${describeAddress(address)} has the encoding ${encoding}, which cannot hold all text; ` +
        'create it with the encoding UTF8',
    )
  return { major, version: version.split(' ')[0]! }
}

async function createAggregates(query: SqlQuery) {
  const { rows } = await query({
    sql: `select 1 from pg_aggregate a join pg_proc p on p.oid = a.aggfnoid
          where p.proname = 'min' and p.proargtypes = array['bytea'::regtype]::oidvector`,
  })
  if (rows.length === 0) for (const sql of BYTEA_AGGREGATES) await query({ sql })
}

/** @returns a StartFault when the operator can remove the reason, or else the error itself */
export function forOperator(error: unknown, address: PostgresAddress): Error {
  const cause = error instanceof StorageUnavailable ? error.cause : error
  const what = describeAddress(address)
  const message = cause instanceof Error ? cause.message : String(cause)
  const say = (words: string) => new StartFault(words, { cause })
  const code = codeOf(cause)
  if (/^28/.test(code)) return say(`${what}: the server refuses the user or the password (${message})`)
  if (code === '3D000') return say(`${what}: there is no such database; create it first`)
  if (code === '42501')
    return say(
      `${what}: the user may not create tables there (${message}); make it the owner of the database, or grant it ` +
        '"create" on the schema',
    )
  if (error instanceof StorageUnavailable) return say(`${what} cannot be reached: ${message || code}`)
  return error as Error
}
