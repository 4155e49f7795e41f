/**
 * Kinds of settings with checks of their own: a file of authorities, the URL of the database, addresses of
 * filters, the webhook of alerts, source addresses and records of the provider zone. A value that is not
 * valid prevents the start.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseRecord, RecordFault } from '../protocols/dns/record-text.ts'
import { readTarget } from '../protocols/http-client/target.ts'
import { faultIn } from '../store/opening/dialect.ts'
import { list, optionalText, type Setting, SettingFault, text } from './setting.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Reads the name of a PEM file of certificate authorities, and parses the file. */
export function authoritiesFile(doc: string): Setting<string | null> {
  const { read, ...setting } = optionalText(doc)
  return {
    ...setting,
    read(raw) {
      const path = read(raw)
      if (path !== null) checkAuthorities(path)
      return path
    },
  }
}

/** @throws SettingFault */
function checkAuthorities(path: string): void {
  const certificates = contentOf(path).match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw new SettingFault(`names ${path}, which contains no PEM certificate`)
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch (error) {
    throw new SettingFault(
      `names ${path}, which contains an invalid certificate (${(error as Error).message})`,
    )
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingFault(`names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Reads the URL of the database, which the store validates. */
export function databaseUrl(fallback: string, doc: string): Setting<string> {
  const { read, ...setting } = text(fallback, doc, { secret: true })
  return {
    ...setting,
    read(raw) {
      const url = read(raw)
      const fault = faultIn(url)
      if (fault !== undefined) throw new SettingFault(fault)
      return url
    },
  }
}

type FilterAddress = { host: string; port: number } | { path: string }

const HOST_AND_PORT = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)):([0-9]{1,5})$/i

/** Reads `host:port`, `[v6]:port` or the absolute path of a socket. */
export function filterAddress(doc: string): Setting<FilterAddress | null> {
  return { read: readFilterAddress, fallback: null, doc, shown: 'off' }
}

/** Reads `http://host:port` with an optional path prefix, for a filter behind a reverse proxy. */
export function filterUrl(doc: string): Setting<string | null> {
  return { read: readFilterUrl, fallback: null, doc, shown: 'off' }
}

function readFilterAddress(raw: unknown): FilterAddress | null {
  if (raw === null || raw === '') return null
  const text = typeof raw === 'string' ? raw.trim() : ''
  if (text.startsWith('/')) return { path: text }
  const [, v6, name, port] = HOST_AND_PORT.exec(text) ?? []
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new SettingFault('must be host:port or the absolute path of a socket')
  return { host: (v6 ?? name)!.toLowerCase(), port: Number(port) }
}

function readFilterUrl(raw: unknown): string | null {
  if (raw === null || raw === '') return null
  const url = typeof raw === 'string' && URL.canParse(raw.trim()) ? new URL(raw.trim()) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new SettingFault('must be http://host:port')
  if (url.username !== '' || url.password !== '')
    throw new SettingFault('must not contain a user name or password')
  if (url.search !== '' || url.hash !== '') throw new SettingFault('must not contain a query or a fragment')
  return url.href.replace(/\/+$/, '')
}

/** Reads the URL of a webhook of the operator, which may be at a private address. It may contain a secret. */
export function alertWebhookUrl(doc: string): Setting<string | null> {
  const { read, ...setting } = optionalText(doc, { secret: true })
  return {
    ...setting,
    read(raw) {
      const url = read(raw)
      if (url === null) return null
      const target = readTarget(url, { allowInsecureLoopback: true, allowOneLabel: true })
      if ('fault' in target) throw new SettingFault(target.fault)
      return url
    },
  }
}

/** Reads the URL of a store, which may be without TLS on the operator's network. */
export function optionalUrl(doc: string): Setting<string | null> {
  const { read, ...setting } = optionalText(doc)
  return {
    ...setting,
    read(raw) {
      const url = read(raw)
      if (url === null) return null
      const { protocol = '', username, password, search, hash } = URL.parse(url) ?? {}
      if (!/^https?:$/.test(protocol) || username || password || search || hash)
        throw new SettingFault('must be a URL of the form https://host or http://host:port')
      return url
    },
  }
}

const SIGNING_SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const SECRET_BYTES_MIN = 24

/** Reads a secret that signs requests, in the form of Standard Webhooks. */
export function signingSecret(doc: string): Setting<string | null> {
  const { read, ...setting } = optionalText(doc, { secret: true })
  return {
    ...setting,
    read(raw) {
      const secret = read(raw)
      if (secret === null) return null
      const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64').length
      if (!SIGNING_SECRET.test(secret) || bytes < SECRET_BYTES_MIN)
        throw new SettingFault(`must be whsec_ and the base64 of at least ${SECRET_BYTES_MIN} bytes`)
      return secret
    },
  }
}

interface SourceIpEntry {
  address: string
  /** EHLO name, in lower case. */
  name: string | null
}

const EHLO_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

/** Reads source IP addresses: `address`, or `address=name` with the EHLO name. */
export function sourceIps(doc: string): Setting<readonly SourceIpEntry[]> {
  const { read } = list([], doc)
  return { read: raw => distinct(read(raw).map(readSourceIp)), fallback: [], doc, shown: "the system's" }
}

function readSourceIp(entry: string): SourceIpEntry {
  const [, address = '', name] = /^([^=]*)(?:=(.*))?$/.exec(entry) ?? []
  if (isIP(address.trim()) === 0)
    throw new SettingFault(`contains "${entry}", which is neither an IP address nor address=name`)
  if (name !== undefined && !EHLO_NAME.test(name.trim().toLowerCase()))
    throw new SettingFault(`contains "${entry}", whose name is not a host name with at least two labels`)
  return { address: address.trim().toLowerCase(), name: name?.trim().toLowerCase() ?? null }
}

function distinct(entries: SourceIpEntry[]): SourceIpEntry[] {
  const twice = entries.find(({ address }, at) => entries.findIndex(other => other.address === address) < at)
  if (twice) throw new SettingFault(`contains ${twice.address} twice`)
  return entries
}

/** Placeholder, because the name of the zone is known only after the whole configuration has been read. */
const ANY_ORIGIN = 'zone.invalid'
/** Matches one record: everything up to a `;` outside quotation marks. */
const RECORD = /(?:"(?:[^"\\]|\\.)*"|[^;"]|")+/g

/**
 * Reads further records of the provider zone, in zone file syntax, one per entry. In the environment, records
 * are separated by `;`.
 */
export function readZoneRecords(doc: string): Setting<readonly string[]> {
  const { read } = list([], doc)
  return {
    read(raw) {
      const lines = read(typeof raw === 'string' ? (raw.match(RECORD) ?? []) : raw)
      for (const line of lines) checkRecord(line)
      return lines
    },
    fallback: [],
    doc,
    shown: 'none',
  }
}

function checkRecord(line: string) {
  try {
    parseRecord(line, ANY_ORIGIN)
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error
    throw new SettingFault(`contains ${JSON.stringify(line)}, which ${error.message}`)
  }
}
