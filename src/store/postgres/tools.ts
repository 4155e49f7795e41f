/**
 * Runs `pg_dump` and `pg_restore`. The password and the address are in their environment, so that the list of
 * processes does not show them.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { StartFault } from '../../lib/start-fault.ts'
import { codeOf } from '../model/errors.ts'
import type { PostgresAddress } from './address.ts'

export type PostgresTool = 'pg_dump' | 'pg_restore'

/** Variables of libpq, which would change what the programs do. */
const OWN_VARIABLE = /^PG[A-Z]+$/
const CONNECT_TIMEOUT_SECONDS = '10'
const ERROR_CHARACTERS_MAX = 400
const VERSION = /\(PostgreSQL\) (\d+)/
const MISSING = 'ENOENT'

/**
 * @param serverMajor major version of the server, such as 17; null when none is involved
 * @throws StartFault when the program is missing, or older than the server, which it refuses then
 */
export async function requireTool(tool: PostgresTool, serverMajor: number | null): Promise<void> {
  const name = `postgresql-client${serverMajor === null ? '' : `-${serverMajor}`}`
  const install = `install the package ${name}, or a newer one (see "PostgreSQL" in docs/backup.md)`
  const major = await majorOf(tool)
  if (major === undefined) throw new StartFault(`the program ${tool} is missing: ${install}`)
  if (serverMajor !== null && major < serverMajor)
    throw new StartFault(
      `${tool} has the version ${major}, and the server the version ${serverMajor}: ${install}`,
    )
}

/** @returns undefined when the program is not installed */
async function majorOf(tool: PostgresTool): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)(tool, ['--version'], { env: inherited() })
    return Number(VERSION.exec(stdout)?.[1] ?? 0)
  } catch (error) {
    if (codeOf(error) === MISSING) return undefined
    throw notRun(tool, error as Error)
  }
}

function notRun(tool: PostgresTool, cause: Error): StartFault {
  return new StartFault(`${tool} cannot be run: ${cause.message}`, { cause })
}

interface ToolOptions {
  args: readonly string[]
  /** Database to connect to; null when the program reads a file only. */
  address: PostgresAddress | null
}

/**
 * Runs a program, and yields what it prints. The program is ended when its output is not read to the end, and
 * it ends by itself with this process, because nobody reads its output then.
 * @throws StartFault when it fails, with its first message
 */
export async function* outputOf(tool: PostgresTool, options: ToolOptions): AsyncGenerator<Buffer> {
  const trust = options.address && (await trustedCertificates(options.address))
  const child = spawn(tool, options.args, {
    env: { ...inherited(), ...(options.address && variablesFor(options.address, trust)) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = endOf(child, tool)
  ended.catch(() => {}) // it is awaited after the output
  try {
    for await (const piece of child.stdout) yield piece as Buffer
    await ended
  } finally {
    child.kill()
    if (trust) await rm(trust.folder, { recursive: true })
  }
}

/** @throws StartFault when the program fails */
async function endOf(child: ChildProcess, tool: PostgresTool): Promise<void> {
  let messages = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    messages = (messages + text).slice(0, ERROR_CHARACTERS_MAX)
  })
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('close', (...end) => resolve(end))
    child.once('error', error => reject(notRun(tool, error)))
  })
  if (code === 0) return
  const shown = messages.trim().replaceAll(/\s*\n\s*/g, '; ')
  throw new StartFault(`${tool} failed: ${shown === '' ? `it ended with ${signal ?? code}` : shown}`)
}

function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN_VARIABLE.test(name)))
}

interface TrustedCertificates {
  folder: string
  file: string
}

/** Writes the certificates for a verified connection to a file, because libpq before 16 has no other way. */
async function trustedCertificates({ tls }: PostgresAddress): Promise<TrustedCertificates | null> {
  if (!tls?.rejectUnauthorized) return null
  const folder = await mkdtemp(join(tmpdir(), 'mailhorn-postgres-'))
  const file = join(folder, 'root.crt')
  await writeFile(file, String(tls.ca ?? getCACertificates('default').join('\n')))
  return { folder, file }
}

function variablesFor(
  { host, port, user, password, database, tls }: PostgresAddress,
  trust: TrustedCertificates | null,
): NodeJS.ProcessEnv {
  return {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGDATABASE: database,
    PGAPPNAME: 'mailhorn',
    PGCONNECT_TIMEOUT: CONNECT_TIMEOUT_SECONDS,
    PGSSLMODE: tls === null ? 'disable' : tls.rejectUnauthorized ? 'verify-full' : 'require',
    ...(password !== undefined && { PGPASSWORD: password }),
    ...(trust && { PGSSLROOTCERT: trust.file }),
  }
}
