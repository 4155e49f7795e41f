/** Authoritative name server for one zone at one address, over UDP and TCP. */
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createDnsListener, type DnsListener } from './listener.ts'
import { createResponder } from './responder.ts'
import type { ResponseRate } from './response-rate.ts'
import type { Zone } from './zone.ts'

interface DnsServerOptions {
  /** An IPv4 or IPv6 literal, and a port; 0 takes a free one. */
  listen: { host: string; port: number }
  zone: Zone
  /** Shared by all addresses that the zone is served at; without it nothing is limited. */
  rate?: ResponseRate | undefined
  log: Log
  clock: Clock
}

export function createDnsServer({ listen, zone, rate, log, clock }: DnsServerOptions): DnsListener {
  return createDnsListener({ listen, respond: createResponder({ zone, rate, log }), log, clock })
}
