/** Derives the settings of the delivery threads from the configuration. Part of the composition root. */
import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import type { SmartHostAddress } from '../config/smart-host.ts'
import {
  GENERAL_SMART_HOST,
  type SmartHost,
  type SmartHostSettings,
} from '../pipeline/delivery/destinations/smart-host.ts'
import type { SourceReportOptions } from '../pipeline/delivery/shaping/source-report.ts'
import type { WarmupPlan } from '../pipeline/delivery/shaping/warmup-plan.ts'
import type { DeliverySettings } from '../pipeline/delivery/threads.ts'
import { fdBudget, threadCountOf } from './fd-budget.ts'

/** @throws when the file of authorities cannot be read */
export function deliverySettings(config: Config, simulatorDomains: ReadonlySet<string>): DeliverySettings {
  const { delivery, log, mailHost, dns, providers, smartHosts, fetch } = config
  const shares = fdBudget(config)
  return {
    threadCount: threadCountOf(delivery),
    logLevel: log.level,
    localName: mailHost,
    ownNames: [mailHost],
    simulatorDomains,
    resolvers: dns.resolvers,
    port: delivery.port,
    allowPrivateAddresses: delivery.allowPrivateAddresses,
    sourceIps: delivery.sourceIps,
    warmup: warmupPlan(delivery),
    authorities: readAuthorities(delivery.caFile),
    connections: shares.deliveries,
    idleConnections: shares.idle,
    accountConnections: delivery.accountConnections,
    providers,
    smartHosts: smartHostSettings(delivery.smartHost, smartHosts),
    validatingResolver: dns.validatingResolver[0] ?? null,
    trustAd: dns.trustAd,
    signedName: dns.signedName,
    tlsReports: delivery.tlsReportsFrom !== null,
    mtaSts: delivery.mtaSts,
    policyPort: delivery.policyPort,
    fetchLoopback: fetch.allowLoopback,
  }
}

/** Settings of the report on source addresses. */
export function sourceSettings({ delivery, mailHost }: Config): Omit<SourceReportOptions, 'db'> {
  return { sourceIps: delivery.sourceIps, localName: mailHost, plan: warmupPlan(delivery) }
}

function warmupPlan({ warmup, warmupCaps: caps }: Config['delivery']): WarmupPlan {
  return { caps, starts: new Map(warmup.map(({ address, start }) => [address, start])) }
}

function smartHostSettings(
  general: SmartHostAddress | null,
  families: Config['smartHosts'],
): SmartHostSettings {
  const named = (name: string, address: SmartHostAddress | null): SmartHost | null =>
    address && { name, ...address }
  const special = Object.entries(families).map(([name, { url, domains }]) => ({
    domains,
    smartHost: named(`${GENERAL_SMART_HOST}-${name}`, url),
  }))
  return { general: named(GENERAL_SMART_HOST, general), special }
}

/** @throws when the file cannot be read */
export function readAuthorities(caFile: string | null): string[] | undefined {
  return caFile === null ? undefined : [readFileSync(caFile, 'utf8')]
}
