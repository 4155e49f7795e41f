/**
 * Asks PostgreSQL on behalf of a test that waits for the answer without giving up its turn: tests look into
 * the database as they do with SQLite. Also makes and drops the databases that tests run on.
 */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { type MessagePort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { createIdSource } from '../../src/lib/ids.ts'
import { createRecentEmails } from '../../src/store/model/recent.ts'
import { readPostgresUrl } from '../../src/store/postgres/address.ts'
import { openPostgresWriting } from '../../src/store/postgres/writing.ts'

export type Question =
  | { ask: 'create'; name: string; isMigrated: boolean }
  | { ask: 'drop'; name: string }
  | { ask: 'end' }
  | { ask: 'query'; name: string; sql: string; values: unknown[] }

/** Result of a query, with the query's number. */
export type Answer = Outcome & { number: number }

type Outcome = { rows: unknown[] } | { error: string }

export interface PostgresThreadData {
  /** URL of a database whose user may create others. */
  url: string
  port: MessagePort
  /** Its first element changes when an answer is there. */
  bell: Int32Array
}

const { url, port, bell } = workerData as PostgresThreadData
const clients = new Map<string, Promise<pg.Client>>()
let template: Promise<string> | undefined
/** Databases of the present schema, and those of them that nobody uses. */
const migrated = new Set<string>()
const emptied: string[] = []

port.on('message', async ({ number, ...question }: Question & { number: number }) => {
  port.postMessage({ number, ...(await answerTo(question)) })
  Atomics.add(bell, 0, 1)
  Atomics.notify(bell, 0)
})

async function answerTo(question: Question): Promise<Outcome> {
  try {
    return { rows: await carryOut(question) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

async function carryOut(question: Question): Promise<unknown[]> {
  if (question.ask === 'end') {
    for (const name of emptied) await drop(name)
    return []
  }
  if (question.ask === 'create') {
    if (question.isMigrated) template ??= makeTemplate()
    const known = question.isMigrated ? emptied.pop() : undefined
    if (known !== undefined) return [{ name: known }]
    const from = question.isMigrated ? await template : 'template0'
    await query('', `create database ${question.name} template ${from}`)
    if (question.isMigrated) migrated.add(question.name)
    return [{ name: question.name }]
  }
  if (question.ask === 'drop') {
    if (migrated.has(question.name) && (await isEmptied(question.name))) emptied.push(question.name)
    else await drop(question.name)
    return []
  }
  return query(question.name, question.sql, question.values)
}

async function drop(name: string) {
  await (await clients.get(name))?.end()
  clients.delete(name)
  await query('', `drop database if exists ${name} with (force)`)
}

/**
 * Empties a database, which takes a tenth of the time that making one takes.
 * @returns false if a test has changed more than rows; the migrations of the template were applied at 1
 */
async function isEmptied(name: string): Promise<boolean> {
  const others = await query('', 'select 1 from pg_stat_activity where datname = $1 and pid <> all($2)', [
    name,
    [await ownPid(name)],
  ])
  const odd = await query(
    name,
    `select 1 from pg_trigger where not tgisinternal union all select 1 from migrations where applied_at <> 1`,
  )
  if (others.length > 0 || odd.length > 0) return false
  const tables = (await query(
    name,
    `select relname as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'migrations'`,
  )) as { name: string }[]
  await query(
    name,
    `set session_replication_role = replica; ${tables.map(table => `delete from ${table.name}`).join('; ')}`,
  )
  return true
}

async function ownPid(name: string): Promise<number> {
  const [row] = (await query(name, 'select pg_backend_pid() as pid')) as [{ pid: number }]
  return row.pid
}

/** A database of the present schema; made once, whoever needs it first. */
async function makeTemplate(): Promise<string> {
  const name = `mailhorn_template_${schemaHash()}`
  await query('', 'select pg_advisory_lock(4711)')
  const known = await query('', 'select 1 from pg_database where datname = $1', [name])
  if (known.length === 0) {
    await query('', `create database ${name}_draft template template0`)
    const options = { commands: {}, recent: createRecentEmails(), newId: createIdSource() }
    const store = await openPostgresWriting(readPostgresUrl(databaseUrl(`${name}_draft`)), options, 1)
    await store.close()
    await query('', `alter database ${name}_draft rename to ${name}`)
  }
  await query('', 'select pg_advisory_unlock(4711)')
  return name
}

function schemaHash(): string {
  const store = new URL('../../src/store/', import.meta.url).pathname
  const hash = createHash('sha256')
  for (const name of [...globSync('migrations/**/*.ts', { cwd: store }), 'postgres/start.ts'].sort())
    hash.update(readFileSync(store + name))
  return hash.digest('hex').slice(0, 16)
}

/** @param name empty for the one that may make others */
async function query(name: string, sql: string, values: unknown[] = []): Promise<unknown[]> {
  const known = clients.get(name)
  const opening = known ?? openClient(name)
  clients.set(name, opening)
  return (await (await opening).query(sql, values)).rows ?? []
}

async function openClient(name: string): Promise<pg.Client> {
  const types = {
    getTypeParser: (oid: number, format?: 'text') =>
      oid === 20 || oid === 1700 ? Number : pg.types.getTypeParser(oid, format),
  }
  const { tls, ...address } = readPostgresUrl(databaseUrl(name))
  const client = new pg.Client({
    ...address,
    ssl: tls ?? false,
    types: types as pg.CustomTypesConfig,
    statement_timeout: 20_000,
    options: '-c enable_seqscan=off -c jit=off -c max_parallel_workers_per_gather=0',
  })
  client.on('error', () => clients.delete(name))
  await client.connect()
  return client
}

function databaseUrl(name: string): string {
  const parsed = new URL(url)
  if (name !== '') parsed.pathname = `/${name}`
  return parsed.href
}
