/** Parses the setting `database.url` of PostgreSQL. */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { codeOf } from '../model/errors.ts'

export interface PostgresAddress {
  /** Host name, IP address, or folder of a Unix socket. */
  host: string
  port: number
  user: string
  password: string | undefined
  database: string
  tls: ConnectionOptions | null
}

/**
 * Error in the URL. The message is the rest of a sentence that starts with "database.url" and contains no
 * secret.
 */
export class DatabaseUrlFault extends Error {}

const DEFAULT_PORT = 5432
const URL_FORM = 'postgres://user:password@host:port/database'
const PARAMETERS = ['host', 'port', 'user', 'password', 'sslmode', 'sslrootcert']

/**
 * Reads `postgres://user:password@host:port/database`, with the parameters `sslmode` (`disable`, `require`,
 * `verify-full`) and `sslrootcert`. A parameter `host` that begins with `/` is the folder of a Unix socket.
 * @throws DatabaseUrlFault
 */
export function readPostgresUrl(url: string): PostgresAddress {
  const parsed = URL.parse(url.replace(/^(\w+:\/\/(?:[^/@]*@)?)\//, '$1localhost/'))
  if (!parsed || !/^postgres(?:ql)?:$/.test(parsed.protocol))
    throw new DatabaseUrlFault(`must have the form ${URL_FORM}`)
  const parameters = parsed.searchParams
  for (const name of parameters.keys())
    if (!PARAMETERS.includes(name)) throw new DatabaseUrlFault(`has an unknown parameter "${name}"`)
  const of = (name: string, inUrl: string) => parameters.get(name) ?? decoded(inUrl)
  const user = of('user', parsed.username)
  const database = decoded(parsed.pathname.slice(1))
  if (user === '') throw new DatabaseUrlFault(`names no user; its form is ${URL_FORM}`)
  if (database === '') throw new DatabaseUrlFault(`names no database; its form is ${URL_FORM}`)
  return {
    host: of('host', parsed.hostname.replace(/^\[|\]$/g, '')),
    port: Number(of('port', parsed.port) || DEFAULT_PORT),
    user,
    password: of('password', parsed.password) || undefined,
    database,
    tls: tlsOf(parameters.get('sslmode') ?? 'disable', parameters.get('sslrootcert')),
  }
}

/** @returns a description of the database for messages, without the password */
export function describeAddress({ host, port, user, database }: PostgresAddress): string {
  return `database "${database}" at ${host.startsWith('/') ? host : `${host}:${port}`} as user "${user}"`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    throw new DatabaseUrlFault('has a % that begins no escape; a % itself is written as %25', {
      cause: error,
    })
  }
}

function tlsOf(mode: string, rootCertificate: string | null): ConnectionOptions | null {
  if (mode === 'disable') return null
  const trust = rootCertificate === null ? {} : { ca: readCertificate(rootCertificate) }
  if (mode === 'require') return { ...trust, rejectUnauthorized: false }
  if (mode === 'verify-full') return { ...trust, rejectUnauthorized: true }
  throw new DatabaseUrlFault(`must have an sslmode of disable, require or verify-full, not "${mode}"`)
}

function readCertificate(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new DatabaseUrlFault(`names the sslrootcert ${file}, which cannot be read (${codeOf(cause)})`, {
      cause,
    })
  }
}
