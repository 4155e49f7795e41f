/**
 * TLS session tickets by host. Resuming a TLS session saves the signatures and round trip of a full
 * handshake.
 */
import type { Clock } from '../../../lib/clock.ts'
import { createExpiringMap } from '../../../lib/expiring-map.ts'

export interface Ticket {
  session: Buffer
  /**
   * Why the certificate was not verified in the full handshake; null when it was. A resumed session does not
   * present the certificate.
   */
  unauthorizedReason: string | null
}

export interface Tickets {
  take(host: string): Ticket | undefined
  give(host: string, ticket: Ticket): void
}

const TICKET_TTL_MS = 3_600_000
const TICKETS_MAX = 2_000

/** Tickets are valid for one secure context only. */
export function createTickets(clock: Clock): Tickets {
  const cache = createExpiringMap<Ticket>(clock, { ttlMs: TICKET_TTL_MS, maxEntries: TICKETS_MAX })
  return { take: cache.get, give: cache.set }
}
