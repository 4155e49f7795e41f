/** Tells from the text of a URL such as `http.base_url`, without a look-up, from where it is reachable. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isGlobalUnicast } from './address-safety.ts'

/**
 * `invalid`: not an http(s) URL. `loopback`: only this machine can open it (127.0.0.0/8, ::1, 0.0.0.0, ::,
 * localhost). `private`: only a local network can. `public`: a public address, or a name, which is not looked
 * up.
 */
type UrlReach = 'invalid' | 'loopback' | 'private' | 'public'

const THIS_MACHINE: ReadonlySet<string> = new Set(['loopback', 'unspecified'])

export function reachOf(url: string): UrlReach {
  const parsed = URL.parse(url)
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') return 'invalid'
  const host = parsed.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(host) === 0) return host === 'localhost' || host.endsWith('.localhost') ? 'loopback' : 'public'
  // An IPv4 address inside an IPv6 address is treated like the IPv4 address.
  if (THIS_MACHINE.has(ipaddr.process(host).range())) return 'loopback'
  return isGlobalUnicast(host) ? 'public' : 'private'
}

/** Mailbox providers follow one-click unsubscribe links only over https (RFC 8058 §3.1). */
export function isHttps(url: string): boolean {
  return URL.parse(url)?.protocol === 'https:'
}
