/** Limits on the connections of one client network: how many are open at a time, and how many are opened in a minute. */

import type { Clock } from '../../lib/clock.ts'
import { isLoopback } from '../../protocols/dns/address-safety.ts'
import { clientNetworkOf } from '../../protocols/dns/netblock.ts'

export interface ConnectionTerms {
  /** Open at a time. */
  perNetworkMax: number
  /** New ones; any number when 0, and from this machine, where a gateway brings the mail of many. */
  newPerMinute: number
}

export interface ConnectionLimit {
  /**
   * Counts a connection from the moment TCP accepts it.
   * @returns why it is refused, with an enhanced status code; then it is not counted
   */
  enter(address: string): string | undefined
  /** The connection is gone. */
  leave(address: string): void
}

const MINUTE_MS = 60_000
const MAPPED_PREFIX = /^::ffff:/i

export function createConnectionLimit(
  { perNetworkMax, newPerMinute }: ConnectionTerms,
  clock: Pick<Clock, 'monotonic'>,
): ConnectionLimit {
  const open = new Map<string, number>()
  const isNew = countPerMinute(newPerMinute, clock)
  return {
    enter(address) {
      const network = clientNetworkOf(address)
      if (!isLoopback(address.replace(MAPPED_PREFIX, '')) && !isNew(network))
        return '4.7.0 Too many new connections from you'
      const count = (open.get(network) ?? 0) + 1
      if (count > perNetworkMax) return '4.7.0 Too many connections from you'
      open.set(network, count)
      return undefined
    },
    leave(address) {
      const network = clientNetworkOf(address)
      const count = (open.get(network) ?? 1) - 1
      if (count === 0) open.delete(network)
      else open.set(network, count)
    },
  }
}

/** Counts by minutes that begin with their first connection. @returns false beyond the limit */
function countPerMinute(limit: number, clock: Pick<Clock, 'monotonic'>): (network: string) => boolean {
  const counts = new Map<string, number>()
  let began = clock.monotonic()
  return network => {
    if (limit === 0) return true
    const now = clock.monotonic()
    if (now - began >= MINUTE_MS) {
      counts.clear()
      began = now
    }
    const count = (counts.get(network) ?? 0) + 1
    if (count <= limit) counts.set(network, count)
    return count <= limit
  }
}
