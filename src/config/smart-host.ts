/** Reads smart hosts: URLs with scheme, login, host and port. Error messages never contain the login. */
import { domainToASCII } from 'node:url'
import { list, type Setting, SettingFault } from './setting.ts'

export interface SmartHostAddress {
  /** Name or address, in lower case. */
  host: string
  port: number
  tls: 'implicit' | 'required' | 'opportunistic'
  login: { user: string; password: string } | null
}

const DEFAULT_PORTS = new Map([
  ['smtps:', 465],
  ['smtp:', 587],
])
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/
const DOMAIN = /^(?:\*\.)?(?:[a-z0-9-]{1,63}\.)*[a-z0-9-]{1,63}$/

export function smartHost(doc: string): Setting<SmartHostAddress | null> {
  return { read: readSmartHost, fallback: null, doc, shown: 'off', secret: true }
}

/** Recipient domains, in lower-case A-labels. */
export function smartHostDomains(doc: string): Setting<readonly string[]> {
  const { read } = list([], doc)
  return { read: raw => read(raw).map(readDomain), fallback: [], doc, shown: 'none' }
}

function readSmartHost(raw: unknown): SmartHostAddress | null {
  if (raw === null || raw === '') return null
  const url = typeof raw === 'string' && URL.canParse(raw.trim()) ? new URL(raw.trim()) : undefined
  const defaultPort = DEFAULT_PORTS.get(url?.protocol ?? '')
  if (!url || defaultPort === undefined)
    throw new SettingFault(
      'must be smtps://user:password@host:port or smtp://…, with a percent-encoded login',
    )
  if (!/^\/?$/.test(url.pathname) || url.hash !== '')
    throw new SettingFault(
      'must not contain a path or a fragment; / ? # and @ in the login must be percent-encoded',
    )
  const host = url.hostname.toLowerCase()
  if (!HOST.test(host)) throw new SettingFault('must contain a host name or an IP address')
  const login = loginOf(url)
  const tls = tlsOf(url)
  if (login && tls === 'opportunistic')
    throw new SettingFault('must not combine ?tls=opportunistic with a login')
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? defaultPort : Number(url.port),
    tls,
    login,
  }
}

function loginOf({ username, password }: URL): SmartHostAddress['login'] {
  if (username === '' && password === '') return null
  if (username === '' || password === '')
    throw new SettingFault('must contain both a user name and a password, or neither')
  try {
    return withoutNul({ user: decodeURIComponent(username), password: decodeURIComponent(password) })
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw new SettingFault('contains an invalid percent-encoding in the login; write % as %25')
  }
}

/** NUL separates the fields of an AUTH PLAIN message (RFC 4616 §2). */
function withoutNul<T extends { user: string; password: string }>(login: T): T {
  if (`${login.user}${login.password}`.includes('\0'))
    throw new SettingFault('must not contain NUL in the login')
  return login
}

function tlsOf({ protocol, searchParams }: URL): SmartHostAddress['tls'] {
  const [[name, value] = [], ...others] = [...searchParams]
  if (name === undefined) return protocol === 'smtps:' ? 'implicit' : 'required'
  const isKnown = name === 'tls' && (value === 'opportunistic' || value === 'required') && others.length === 0
  if (!isKnown || protocol === 'smtps:')
    throw new SettingFault('must not contain a query other than ?tls=opportunistic after smtp://host:port')
  return value
}

function readDomain(raw: string): string {
  const isBelow = raw.startsWith('*.')
  const domain = `${isBelow ? '*.' : ''}${domainToASCII(isBelow ? raw.slice(2) : raw)}`
  if (!DOMAIN.test(domain)) throw new SettingFault(`contains "${raw}", which is not a domain name`)
  return domain
}
