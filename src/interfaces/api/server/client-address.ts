/**
 * Determines the client address of a request. Headers of proxies count only if the operator trusts the proxy.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { networks, plainAddress } from '../../../lib/networks.ts'

export type ClientAddressOf = (request: IncomingMessage) => string

/** @param trustedProxies addresses or CIDR ranges */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddressOf {
  const trusted = networks(trustedProxies)
  return request => {
    const peer = plainAddress(request.socket.remoteAddress ?? '')
    if (!trusted.contains(peer)) return peer
    const hops = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').map(plainAddress)
    const nearest = hops.findLast(hop => !trusted.contains(hop))
    return nearest !== undefined && isIP(nearest) !== 0 ? nearest : peer
  }
}
