/** Sends the daily TLS reports (RFC 8460), if a sender is configured. Part of the composition root. */

import { startSweeper } from '../lib/sweeper.ts'
import { sendTlsReports } from '../pipeline/delivery/tls-reporter.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import { parseMailbox } from '../protocols/smtp/address.ts'
import type { AppContext, Sending } from './context.ts'
import { readAuthorities } from './delivery.ts'

const HOUR_MS = 3_600_000

/** @throws when the address of the sender is invalid */
export function startTlsReports(
  { config, store, clock, log, stack }: AppContext,
  { accept, preparation }: Sending,
): void {
  const { mailHost, delivery, dns } = config
  if (delivery.tlsReportsFrom === null || !config.roles.includes('all')) return
  const from = parseMailbox(delivery.tlsReportsFrom)
  if ('fault' in from) throw new Error(`delivery.tls_reports_from: ${from.fault}`)
  const resolver = createResolver({ servers: dns.resolvers, clock })
  const outbound = createOutbound({
    resolver,
    clock,
    allowLoopback: config.fetch.allowLoopback,
    authorities: readAuthorities(delivery.caFile),
  })
  const { db, run } = store
  const options = { db, run, accept, preparation, outbound, resolver, clock, log, from, mailHost }
  const sweeper = startSweeper({
    task: 'send TLS reports',
    sweep: () => sendTlsReports(options),
    everyMs: HOUR_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'tls_reports_failed', err: error },
        'TLS reports could not be sent; retrying in 1 h',
      ),
  })
  stack.defer(sweeper.stop)
  stack.defer(resolver.close)
  stack.defer(outbound.close)
}
