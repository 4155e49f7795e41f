/**
 * Opens what a check asks: the resolvers of the configuration, and name servers as they are found; within a
 * time limit.
 */

import type { Clock } from '../../lib/clock.ts'
import { isGlobalUnicast } from '../../protocols/dns/address-safety.ts'
import { authorityObserver, resolverObserver } from '../../protocols/dns/dns-observer.ts'
import type { Inquiry } from './verify.ts'

export interface CheckSessions {
  /** What is open since then learns nothing more. */
  isClosed(): boolean
  /** To be closed when the check is over. */
  open(): Inquiry & { close(): void }
  /** Ends all that are open. */
  close(): void
}

interface InquiriesOptions {
  /** Resolvers, as `address:port`. */
  servers: readonly string[]
  clock: Clock
  /** Port of customers' name servers. */
  authorityPort: number
  /** Lets name servers be asked that are not on the public internet, for laboratories. */
  allowPrivateAddresses: boolean
  timeoutMs?: number
  tries?: number
}

/** A whole check takes no longer. */
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
