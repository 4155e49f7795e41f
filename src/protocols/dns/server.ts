/**
 * Authoritative name server for one zone at one address, over UDP and TCP. In: query packets from the
 * network. Out: responses from `Zone`. The DNS worker starts one server per listening address.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createDnsListener, type DnsListener } from './listener.ts'
import { createResponder } from './responder.ts'
import type { ResponseRate } from './response-rate.ts'
import type { Zone } from './zone.ts'

interface DnsServerOptions {
  /** An IPv4 or IPv6 literal, and a port; 0 selects a free port. */
  listen: { host: string; port: number }
  zone: Zone
  /** Shared by all addresses of the zone. Without it there is no rate limit. */
  rate?: ResponseRate | undefined
  log: Log
  clock: Clock
}

export function createDnsServer({ listen, zone, rate, log, clock }: DnsServerOptions): DnsListener {
  return createDnsListener({ listen, respond: createResponder({ zone, rate, log }), log, clock })
}
