/**
 * Opens the DNS clients of one domain check: the configured resolvers and the name servers of the zone. All
 * of them share a time limit.
 */

import type { Clock } from '../../lib/clock.ts'
import { isGlobalUnicast } from '../../protocols/dns/address-safety.ts'
import { authorityObserver, resolverObserver } from '../../protocols/dns/dns-observer.ts'
import type { Inquiry } from './verify.ts'

export interface CheckSessions {
  /** Tells whether the session was closed. Open clients get no further answers then. */
  isClosed(): boolean
  /** Opens clients. The caller closes them after the check. */
  open(): Inquiry & { close(): void }
  /** Closes all open clients. */
  close(): void
}

interface InquiriesOptions {
  /** Resolvers as `address:port`. */
  servers: readonly string[]
  clock: Clock
  /** Port of authoritative name servers. */
  authorityPort: number
  /** Allows queries to name servers with private addresses, for test setups. */
  allowPrivateAddresses: boolean
  timeoutMs?: number
  tries?: number
}

/** Time limit of a whole check. */
const LIMIT_MS = 20_000

export function createCheckSessions(options: InquiriesOptions): CheckSessions {
  const { servers, clock, authorityPort, allowPrivateAddresses, timeoutMs = 2_000, tries = 2 } = options
  const closing = new AbortController()
  return {
    isClosed: () => closing.signal.aborted,
    open() {
      const over = new AbortController()
      const timer = clock.timer(LIMIT_MS, () => over.abort(new Error('out of time')))
      const limits = { clock, timeoutMs, tries, signal: AbortSignal.any([over.signal, closing.signal]) }
      return {
        resolvers: servers.map(server => resolverObserver(server, limits)),
        isAllowed: address => allowPrivateAddresses || isGlobalUnicast(address),
        openObserver: (label, host) => authorityObserver(label, { host, port: authorityPort }, limits),
        close() {
          timer.cancel()
          over.abort(new Error('the check is over'))
        },
      }
    },
    close: () => closing.abort(new Error('closed')),
  }
}
