/**
 * Tells whether an address belongs to the public internet. Every address of an MX host and every other
 * address that foreign input selects is checked, since any name may resolve to an address of the operator's
 * network.
 */
import { isIP, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The allocated part of the IPv6 space (RFC 4291 §2.4). */
const GIVEN_OUT = ipaddr.IPv6.parseCIDR('2000::/3')
/** The well-known prefix of NAT64 (RFC 6052 §2.1). The local-use prefix 64:ff9b:1::/48 stays refused. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** The upper half of an ISATAP interface identifier, with and without the universal bit (RFC 5214 §6.1). */
const ISATAP = new Set([0x0000_5efe, 0x0200_5efe])

/**
 * True for global unicast addresses only. An IPv4 address inside a mapped, NAT64 or ISATAP address is checked
 * like the IPv4 address itself; 6to4, Teredo and IPv4-compatible addresses are never global.
 *
 * @param text an IP literal; any other text, including one with a zone identifier, is not global
 */
export function isGlobalUnicast(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(isIPv6(text) ? withoutDots(text) : text)
  if (address instanceof ipaddr.IPv4) return isGlobalIpv4(address)
  if (address.isIPv4MappedAddress() || address.match(NAT64)) return isGlobalIpv4(lastIpv4(address))
  if (!address.match(GIVEN_OUT) || address.range() !== 'unicast') return false
  return !isIsatap(address) || isGlobalIpv4(lastIpv4(address))
}

/** True for 127.0.0.0/8 and ::1, in this spelling only. */
export function isLoopback(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%') && ipaddr.parse(text).range() === 'loopback'
}

/**
 * Rewrites `::8.8.8.8` as `::808:808`, since ipaddr.js takes the dotted form for a mapped address
 * (`::ffff:8.8.8.8`).
 */
function withoutDots(text: string): string {
  return text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [a * 256 + Number(b), c * 256 + Number(d)].map(group => group.toString(16)).join(':'),
  )
}

function isGlobalIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast'
}

function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return ISATAP.has(parts[4]! * 0x1_0000 + parts[5]!)
}

function lastIpv4(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}
