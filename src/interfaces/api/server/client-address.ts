/**
 * Determines the client address of a request. Headers of proxies count only if the operator trusts the proxy.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { networks, plainAddress } from '../../../lib/networks.ts'
import { connectionOf } from './connections.ts'

export type ClientAddressOf = (request: IncomingMessage) => string

/** @param trustedProxies addresses or CIDR ranges */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddressOf {
  const trusted = networks(trustedProxies)
  return request => {
    const { socket, headers } = request
    const peer = plainAddress(connectionOf(socket)?.address ?? socket.remoteAddress ?? '')
    if (!trusted.contains(peer)) return peer
    for (const hop of hopsIn(headers)) {
      if (isIP(hop) === 0) return peer
      if (!trusted.contains(hop)) return hop
    }
    return peer
  }
}

/**
 * Returns what the proxies say, the nearest first. `X-Forwarded-For` goes first: proxies that set it usually
 * pass `Forwarded` on as the client has sent it.
 */
function hopsIn({ 'x-forwarded-for': forwardedFor, forwarded }: IncomingHttpHeaders): Iterable<string> {
  if (forwardedFor === undefined) return forwardedHops([forwarded ?? []].flat().join(','))
  return [forwardedFor].flat().join(',').split(',').map(plainAddress).reverse()
}

/**
 * Returns the addresses in `Forwarded` (RFC 7239). They are read from the end, so that quotes that a client
 * leaves open hide nothing of what proxies have added.
 */
function* forwardedHops(list: string): Iterable<string> {
  let end = list.length
  let isQuoted = false
  for (let at = end - 1; at >= 0; at--) {
    if (list[at] === '"' && !isEscaped(list, at)) isQuoted = !isQuoted
    if (list[at] !== ',' || isQuoted) continue
    yield hopOf(list.slice(at + 1, end))
    end = at
  }
  yield hopOf(list.slice(0, end))
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

const PAIR = /\s*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*(?:;|$)/y
/** An address of IPv4, or one of IPv6 in brackets, with or without a port. */
const NODE = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::[\w.-]+)?$/

/** @returns the address in `for`; empty if there is none */
function hopOf(element: string): string {
  const found: string[] = []
  for (let at = 0; at < element.length; at = PAIR.lastIndex) {
    PAIR.lastIndex = at
    const [, name, quoted, token = ''] = PAIR.exec(element) ?? []
    if (name === undefined) return ''
    if (name.toLowerCase() === 'for') found.push(quoted ?? token)
  }
  const [, ipv4, ipv6 = ''] = found.length === 1 ? (NODE.exec(found[0]!) ?? []) : []
  return plainAddress(ipv4 ?? ipv6)
}
