/** Network of an IP address, as rate limits count it. */

/** What a site is given at least (RFC 6177 §2): below it anybody has as many addresses as they like. */
const IPV6_BITS = 56
const IPV6_SITE_BITS = 48
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * The /24 of an IPv4 address, the /56 of an IPv6 address, as a text that means nothing else.
 *
 * @param address as sockets write them: an IPv6 address may be shortened, hold an IPv4 address, or name its
 * interface
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
 * The unit by which limits on connections and password attempts tell clients apart: a single IPv4 address,
 * since a /24 often holds many customers of one provider, and the /56 of an IPv6 address, since one customer
 * has at least that much.
 *
 * @param address as sockets write them
 */
export function clientNetworkOf(address: string): string {
  const mapped = MAPPED.exec(address)
  if (mapped) return mapped[1]!
  return address.includes(':') ? netblockOf(address) : address
}

/**
 * The /48 of an IPv6 address, as a text that differs from every `clientNetworkOf()`; undefined for an IPv4
 * address. A site may be given a whole /48 (RFC 6177 §2), so that one client may own the 256 networks of /56
 * in it.
 *
 * @param address as sockets write them
 */
export function siteNetworkOf(address: string): string | undefined {
  if (!address.includes(':') || MAPPED.test(address)) return undefined
  return `${netblockOf(address).slice(0, IPV6_SITE_BITS / 4)}::`
}

/** Of 16 bits each; an IPv4 address at the end counts as two. */
function groupCount(text: string): number {
  if (text === '') return 0
  const groups = text.split(':')
  return groups.length + (text.includes('.') ? 1 : 0)
}
