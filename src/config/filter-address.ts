/** Reads the addresses of filters for received mail: host and port, a Unix socket, or a URL. */
import type { Setting } from './setting.ts'
import { SettingFault } from './setting.ts'

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
