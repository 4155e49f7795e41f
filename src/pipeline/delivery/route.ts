/**
 * Where a domain's mail goes, remembered for a minute; domains with the same MX hosts share a destination.
 */

import type { Clock } from '../../lib/clock.ts'
import { lookUpMxHosts, type MxHost, type MxHosts } from '../../protocols/dns/mx-hosts.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import type { HostedDomain } from '../../resources/domains/domain-rows.ts'
import { providerOf } from './providers.ts'
import { GENERAL_SMART_HOST, type SmartHost, type SmartHostOf } from './smart-host.ts'
import type { DomainSecurity } from './tls-policy/next-hop.ts'

export interface DeliveryRoute {
  /** Deliveries of one destination share concurrency, pace and pauses. */
  destination: string
  target: RouteTarget
}

export type RouteTarget =
  /** Domains with the same `hostSet` share connections, as far as they ask the same of them. */
  | {
      kind: 'hosts'
      hosts: readonly MxHost[]
      hostSet: string
      /** Absent where nothing is asked. */
      security?: DomainSecurity | undefined
    }
  /** The one that is set for the domain. */
  | { kind: 'smart-host' }
  /** Handled without the network. */
  | { kind: 'simulator' }
  /** Received here: it need not leave. */
  | { kind: 'hosted'; domain: HostedDomain }
  /** No mail can go there; `enhanced` and `reason` say why. */
  | { kind: 'undeliverable'; enhanced: string; reason: string }
  /** Nothing is known now. */
  | { kind: 'unknown'; reason: string }

export interface Router {
  routeOf(domain: string): Promise<DeliveryRoute>
  /** Takes over what another thread has found. */
  prime(domain: string, route: DeliveryRoute): void
  /** Looks again where mail for these domains goes; for all, when none is named. */
  forget(domains?: readonly string[]): void
}

interface RouterOptions {
  resolver: Resolver
  clock: Clock
  random: () => number
  simulatorDomains: ReadonlySet<string>
  ownNames: readonly string[]
  smartHostOf: SmartHostOf
  /** What the domain's owner asks of connections; undefined where that is nothing. */
  securityOf(domain: string): Promise<DomainSecurity | undefined>
  /** The domain where its mail is received here; undefined where it is not. */
  hostedOf(domain: string): Promise<HostedDomain | undefined>
}

const ROUTE_TTL_MS = 60_000
const UNKNOWN_TTL_MS = 5_000
const ROUTES_MAX = 20_000
/** Where mail for a domain that is received here would have nowhere else to go. */
const LOCAL_IF_HOSTED = new Set<MxHosts['kind']>(['loop', 'no-mail', 'no-domain'])
export const SIMULATOR_ROUTE: DeliveryRoute = { destination: 'simulator', target: { kind: 'simulator' } }

export function createRouter(options: RouterOptions): Router {
  const { resolver, clock, random, simulatorDomains, ownNames, smartHostOf, securityOf, hostedOf } = options
  const kept = new Map<string, { route: Promise<DeliveryRoute>; until: number }>()
  const keep = (domain: string, route: Promise<DeliveryRoute>) => {
    const entry = { route, until: clock.monotonic() + ROUTE_TTL_MS }
    kept.delete(domain)
    if (kept.size >= ROUTES_MAX) kept.delete(kept.keys().next().value!)
    kept.set(domain, entry)
    route.then(
      ({ target }) => {
        if (target.kind === 'unknown') entry.until = clock.monotonic() + UNKNOWN_TTL_MS
      },
      () => kept.delete(domain),
    )
    return route
  }

  return {
    routeOf(domain) {
      if (simulatorDomains.has(domain)) return Promise.resolve(SIMULATOR_ROUTE)
      const smartHost = smartHostOf(domain)
      if (smartHost && smartHost.name !== GENERAL_SMART_HOST) return Promise.resolve(relayedBy(smartHost))
      const known = kept.get(domain)
      if (known && known.until > clock.monotonic()) return known.route
      return keep(domain, smartHost ? unlessOurs(domain, smartHost) : lookUp(domain))
    },
    prime: (domain, route) => void keep(domain, Promise.resolve(route)),
    forget(domains) {
      if (domains === undefined) kept.clear()
      else for (const domain of domains) kept.delete(domain)
    },
  }

  async function lookUp(domain: string): Promise<DeliveryRoute> {
    const [found, security] = await Promise.all([mxHostsOf(domain), securityOf(domain)])
    if (found.kind === 'hosts') return routeTo(found.hosts, security)
    const hosted = LOCAL_IF_HOSTED.has(found.kind) ? await hostedOf(domain) : undefined
    return hosted ? into(hosted) : { destination: `!${domain}`, target: withoutHosts(found, domain) }
  }

  /** What would come back to us over the relay need not go there; the MX is asked of such domains alone. */
  async function unlessOurs(domain: string, smartHost: SmartHost): Promise<DeliveryRoute> {
    const hosted = await hostedOf(domain)
    const isOurs = hosted && LOCAL_IF_HOSTED.has((await mxHostsOf(domain)).kind)
    return isOurs ? into(hosted) : relayedBy(smartHost)
  }

  function mxHostsOf(domain: string): Promise<MxHosts> {
    return lookUpMxHosts(resolver, domain, { ownNames, random })
  }
}

/**
 * The destination is a provider's where all hosts are, else the set of the hosts, whatever their preferences.
 */
export function routeTo(hosts: readonly MxHost[], security?: DomainSecurity): DeliveryRoute {
  const names = hosts.map(({ name }) => name).sort()
  const hostSet = names.join(' ')
  return {
    destination: providerOf(names)?.name ?? hostSet,
    target: { kind: 'hosts', hosts, hostSet, ...(security && { security }) },
  }
}

function relayedBy({ name: destination }: SmartHost): DeliveryRoute {
  return { destination, target: { kind: 'smart-host' } }
}

function into(domain: HostedDomain): DeliveryRoute {
  return { destination: 'here', target: { kind: 'hosted', domain } }
}

function withoutHosts(found: Exclude<MxHosts, { kind: 'hosts' }>, domain: string): RouteTarget {
  switch (found.kind) {
    case 'null-mx':
      return { kind: 'undeliverable', enhanced: '5.1.10', reason: `${domain} takes no mail (null MX)` }
    case 'no-domain':
      return { kind: 'undeliverable', enhanced: '5.1.2', reason: `${domain} does not exist` }
    case 'no-mail':
      return { kind: 'undeliverable', enhanced: '5.4.4', reason: `${domain} has no mail host` }
    case 'loop':
      return { kind: 'undeliverable', enhanced: '5.4.6', reason: `mail for ${domain} would come back to us` }
    case 'failure':
      return { kind: 'unknown', reason: `the MX hosts of ${domain} are not known: ${found.reason}` }
  }
}
