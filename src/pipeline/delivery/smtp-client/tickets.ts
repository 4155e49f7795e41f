/**
 * TLS sessions of hosts that were spoken to, kept a while: resuming one saves the handshake's round trip and
 * signatures.
 */
import type { Clock } from '../../../lib/clock.ts'
import { createExpiringMap } from '../../../lib/expiring-map.ts'

export interface Ticket {
  session: Buffer
  /**
   * Why the certificate did not verify when it was last seen; null when it did: a resumed session shows it no
   * more.
   */
  unauthorizedReason: string | null
}

export interface Tickets {
  take(host: string): Ticket | undefined
  give(host: string, ticket: Ticket): void
}

const TICKET_TTL_MS = 3_600_000
const TICKETS_MAX = 2_000

/** For one secure context: what was negotiated under another one's rules is not good here. */
export function createTickets(clock: Clock): Tickets {
  const kept = createExpiringMap<Ticket>(clock, { keptMs: TICKET_TTL_MS, most: TICKETS_MAX })
  return { take: kept.get, give: kept.set }
}
