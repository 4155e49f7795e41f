/** The address a request comes from, believing proxies only where the operator trusts them. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export type ClientAddressOf = (request: IncomingMessage) => string

/** @param trustedProxies addresses or CIDR ranges */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddressOf {
  const trusted = new BlockList()
  for (const entry of trustedProxies) {
    const [address = '', prefix] = entry.split('/')
    const family = familyOf(address)
    if (prefix === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(prefix), family)
  }
  const isTrusted = (address: string) => isIP(address) !== 0 && trusted.check(address, familyOf(address))
  return request => {
    const peer = plain(request.socket.remoteAddress ?? '')
    if (!isTrusted(peer)) return peer
    const hops = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').map(plain)
    const nearest = hops.findLast(hop => !isTrusted(hop))
    return nearest !== undefined && isIP(nearest) !== 0 ? nearest : peer
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** An IPv4 address as a dual-stack socket gives it, without its prefix. */
function plain(address: string): string {
  return address.trim().replace(/^::ffff:(?=\d+\.)/i, '')
}
