/** Maps IP addresses to the networks by which rate limits count. */

/** A site gets at least this prefix (RFC 6177 §2) and may use any address in it. */
const IPV6_BITS = 56
const IPV6_SITE_BITS = 48
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * @param address in the form that sockets use: an IPv6 address may be abbreviated, contain an IPv4 address or
 * name an interface
 * @returns the /24 of an IPv4 address or the /56 of an IPv6 address, as an unambiguous text
 */
export function netblockOf(address: string): string {
  if (!address.includes(':')) return address.slice(0, address.lastIndexOf('.'))
  const mapped = MAPPED.exec(address)
  if (mapped) return netblockOf(mapped[1]!)
  const [first = '', rest] = address.split('::', 2)
  const groups = first === '' ? [] : first.split(':')
  if (rest !== undefined) while (groups.length < 8 - groupCount(rest)) groups.push('0')
  const upper = groups.concat(rest ? rest.split(':') : []).slice(0, 4)
  const whole = upper.map(group => group.padStart(4, '0')).join('')
  return `${whole.slice(0, IPV6_BITS / 4).toLowerCase()}:`
}

/**
 * Maps an address to the client that limits on connections and password attempts count: a single IPv4
 * address, since a /24 often belongs to many customers of one provider, or the /56 of an IPv6 address, since
 * one customer has at least that much.
 *
 * @param address in the form that sockets use
 */
export function clientNetworkOf(address: string): string {
  const mapped = MAPPED.exec(address)
  if (mapped) return mapped[1]!
  return address.includes(':') ? netblockOf(address) : address
}

/**
 * @param address in the form that sockets use
 * @returns the /48 of an IPv6 address, as a text that differs from every `clientNetworkOf()`, or undefined
 * for IPv4. A site may have a whole /48 (RFC 6177 §2), so one client may own all 256 networks of /56 in it.
 */
export function siteNetworkOf(address: string): string | undefined {
  if (!address.includes(':') || MAPPED.test(address)) return undefined
  return `${netblockOf(address).slice(0, IPV6_SITE_BITS / 4)}::`
}

/** Counts groups of 16 bits; an IPv4 address at the end counts as two. */
function groupCount(text: string): number {
  if (text === '') return 0
  const groups = text.split(':')
  return groups.length + (text.includes('.') ? 1 : 0)
}
