/**
 * Connection limits per client network: open connections, and new connections per minute. Called by
 * `smtp-server.ts`.
 */

import type { Clock } from '../../lib/clock.ts'
import { countPerMinute } from '../../lib/per-minute.ts'
import { isLoopback } from '../../protocols/dns/address-safety.ts'
import { clientNetworkOf } from '../../protocols/dns/netblock.ts'

export interface ConnectionTerms {
  /** Number of open connections per client network. */
  perNetworkMax: number
  /**
   * New connections; 0 means no limit. Loopback is exempt, since a local gateway forwards the mail of many
   * clients.
   */
  newPerMinute: number
}

export interface ConnectionLimit {
  /**
   * Counts an accepted TCP connection.
   * @returns the reason to refuse it, with an enhanced status code; a refused connection is not counted
   */
  enter(address: string): string | undefined
  /** To be called when the connection is closed. */
  leave(address: string): void
}

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
