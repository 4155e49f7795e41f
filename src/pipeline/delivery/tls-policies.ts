/**
 * Opens what decides on TLS for a delivery: DANE, MTA-STS, the policies per host, and the results for TLS
 * reports.
 *
 * In: settings of the thread, and its resolver, store and log. Out: the TLS policies of domains and hosts.
 * Called by `workers/delivery.ts`.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { createOutbound } from '../../protocols/http-client/outbound.ts'
import type { Run } from '../../store/model/command.ts'
import type { Find } from '../../store/reading/read.ts'
import type { tlsCommands } from '../queue/tls-rows.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { DeliverySettings } from './threads.ts'
import { openDane } from './tls-policy/dane.ts'
import { createHostTlsPolicies } from './tls-policy/host-tls-policy.ts'
import { createMtaStsCache } from './tls-policy/mta-sts-cache.ts'
import { createSecurityOf } from './tls-policy/next-hop.ts'
import { createTlsResults } from './tls-policy/tls-results.ts'

interface TlsPoliciesOptions {
  settings: Pick<DeliverySettings, 'network' | 'tls'>
  clock: Clock
  resolver: Resolver
  find: Find
  run: Run<typeof tlsCommands>
  log: DeliveryLog
  /** Whether this thread logs changes of DANE, which all threads observe. */
  logsDane: boolean
}

export function openTlsPolicies({ settings, clock, resolver, find, run, log, logsDane }: TlsPoliciesOptions) {
  const { network, tls } = settings
  const dane = openDane({
    validatingResolver: tls.validatingResolver,
    trustAd: tls.trustAd,
    signedName: tls.signedName,
    port: network.port,
    clock,
    onChange: (isOn, reason) => logsDane && log.daneChanged(isOn, tls, reason),
  })
  const tlsResults = tls.reports
    ? createTlsResults({ resolver, run, clock, onError: log.tlsResultsStoreFailed })
    : null
  const outbound = createOutbound({
    resolver,
    clock,
    allowLoopback: network.fetchLoopback,
    authorities: network.authorities,
  })
  const sts = tls.mtaSts
    ? createMtaStsCache({
        resolver,
        outbound,
        find,
        run,
        clock,
        port: tls.policyPort,
        onFault(domain, fault) {
          log.stsPolicyUnavailable(domain, fault)
          tlsResults?.countFault(domain, 'sts', fault.type, fault.fault)
        },
        onError: log.stsPolicyUpdateFailed,
      })
    : null
  return {
    securityOf: createSecurityOf({ sts, dane }),
    tlsPolicies: createHostTlsPolicies({ clock, authorities: network.authorities, dane }),
    tlsResults,
    async close(): Promise<void> {
      await tlsResults?.close().catch(log.tlsResultsStoreFailed)
      dane?.close()
      outbound.close()
    },
  }
}
