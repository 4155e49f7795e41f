/** Sends the daily TLS reports (RFC 8460), if a sender is configured. Part of the composition root. */

import type { Config } from '../config/config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { startSweeper } from '../lib/sweeper.ts'
import type { Accept } from '../pipeline/accept/accept.ts'
import type { Preparation } from '../pipeline/accept/prepare.ts'
import { sendTlsReports } from '../pipeline/delivery/tls-reporter.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import { parseMailbox } from '../protocols/smtp/address.ts'
import type { Store } from '../store/opening/open.ts'
import type { ServiceCommands } from '../workers/commands.ts'
import { readAuthorities } from './delivery-settings.ts'

interface TlsReportsOptions {
  config: Config
  store: Store<ServiceCommands>
  accept: Accept
  preparation: Preparation
  clock: Clock
  log: Log
}

const HOUR_MS = 3_600_000

/**
 * @returns a function that stops the reports; undefined when they are off
 * @throws when the address of the sender is invalid
 */
export function startTlsReports(options: TlsReportsOptions): (() => Promise<void>) | undefined {
  const { config, store, clock, log } = options
  const { mailHost, delivery, dns } = config
  if (delivery.tlsReportsFrom === null || !config.roles.includes('all')) return undefined
  const from = parseMailbox(delivery.tlsReportsFrom)
  if ('fault' in from) throw new Error(`delivery.tls_reports_from: ${from.fault}`)
  const resolver = createResolver({ servers: dns.resolvers, clock })
  const authorities = readAuthorities(delivery.caFile)
  const outbound = createOutbound({
    resolver,
    clock,
    allowLoopback: config.fetch.allowLoopback,
    ...(authorities && { authorities }),
  })
  const parts = { ...options, db: store.db, run: store.run, resolver, outbound, from, mailHost }
  const sweeper = startSweeper({
    task: 'send TLS reports',
    sweep: () => sendTlsReports(parts),
    everyMs: HOUR_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'tls_reports_failed', err: error },
        'TLS reports could not be sent; retrying in 1 h',
      ),
  })
  return async () => {
    outbound.close()
    resolver.close()
    await sweeper.stop()
  }
}
