/** Checks the scheme, host and port of a user's URL before anything is looked up. */
import { isIP } from 'node:net'

export interface Target {
  url: URL
  /** A name without final dot, or an IP literal without brackets. */
  host: string
  port: number
  isSecure: boolean
}

interface TargetRules {
  /** Accepts `http://` with the literal host 127.0.0.1 or [::1], and no other `http://` URL. */
  allowInsecureLoopback: boolean
  /** Accepts host names of one label, such as `localhost` or `step-ca`. */
  allowOneLabel?: boolean
}

const URL_CHARACTERS_MAX = 2_048
const INSECURE_HOSTS = new Set(['127.0.0.1', '::1'])
const FIRST_FREE_PORT = 1_024
/**
 * Ports from 1024 up that belong to other protocols; browsers block them, too ("bad port" in the Fetch
 * standard).
 */
const FOREIGN_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
])

/** @returns the target, or a fault that completes "the URL …" */
export function readTarget(
  text: string,
  { allowInsecureLoopback, allowOneLabel = false }: TargetRules,
): Target | { fault: string } {
  if (text.length > URL_CHARACTERS_MAX)
    return { fault: `must contain at most ${URL_CHARACTERS_MAX} characters; got ${text.length}` }
  const url = /[\0- \x7f]/.test(text) ? null : URL.parse(text)
  if (!url) return { fault: 'must be an absolute URL' }
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const isInsecureLoopback = allowInsecureLoopback && url.protocol === 'http:' && INSECURE_HOSTS.has(host)
  if (!isSecure && !isInsecureLoopback) return { fault: 'must begin with https://' }
  if (url.username !== '' || url.password !== '')
    return { fault: 'must not contain a user name or a password' }
  const ownPort = isSecure ? 443 : 80
  const port = url.port === '' ? ownPort : Number(url.port)
  const isFree = port >= FIRST_FREE_PORT && !FOREIGN_PORTS.has(port)
  if (port !== ownPort && !isFree) return { fault: `must not use port ${port}` }
  if (isIP(host) === 0 && !host.includes('.') && !(allowOneLabel && host !== ''))
    return { fault: 'must have a fully qualified host name' }
  return { url, host, port, isSecure }
}
