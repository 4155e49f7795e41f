/**
 * Finds where the mail of a domain goes, and caches the answer for a minute. Domains with the same MX hosts
 * share a destination.
 *
 * In: a recipient domain. Out: its route. Called by `worker.ts`, and by the delivery runner.
 */

import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap, keepUnlessFailed } from '../../lib/expiring-map.ts'
import { lookUpMxHosts, type MxHost, type MxHosts } from '../../protocols/dns/mx-hosts.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import type { HostedDomain } from '../../resources/domains/domain-rows.ts'
import { providerOf } from './destinations/providers.ts'
import { GENERAL_SMART_HOST, type SmartHost, type SmartHostOf } from './destinations/smart-host.ts'
import type { DomainSecurity } from './tls-policy/next-hop.ts'

export interface DeliveryRoute {
  /** Name of the destination, whose deliveries share limits and pauses. */
  destination: string
  target: RouteTarget
}

export type RouteTarget =
  /** MX hosts. Domains with the same `hostSet` share connections if they have the same TLS requirements. */
  | {
      kind: 'hosts'
      hosts: readonly MxHost[]
      hostSet: string
      /** Absent when the domain has no TLS requirements. */
      security?: DomainSecurity | undefined
    }
  /** The smart host that is configured for the domain. */
  | { kind: 'smart-host' }
  /** The simulator, which needs no connection. */
  | { kind: 'simulator' }
  /** A domain whose mail this installation receives. */
  | { kind: 'hosted'; domain: HostedDomain }
  /** No mail can be delivered to the domain, for the `reason`; `enhanced` is the enhanced status code. */
  | { kind: 'undeliverable'; enhanced: string; reason: string }
  /** The lookup failed and is repeated later. */
  | { kind: 'unknown'; reason: string }

export interface Router {
  routeOf(domain: string): Promise<DeliveryRoute>
  /** Stores a route that another thread has found. */
  prime(domain: string, route: DeliveryRoute): void
  /** Removes the routes of the domains from the cache; all routes when no domain is named. */
  forget(domains?: readonly string[]): void
}

interface RouterOptions {
  resolver: Resolver
  clock: Clock
  random: () => number
  simulatorDomains: ReadonlySet<string>
  ownNames: readonly string[]
  smartHostOf: SmartHostOf
  /** TLS requirements of the domain; undefined when there are none. */
  securityOf(domain: string): Promise<DomainSecurity | undefined>
  /** The domain if this installation receives its mail; undefined otherwise. */
  hostedOf(domain: string): Promise<HostedDomain | undefined>
}

const ROUTE_TTL_MS = 60_000
const UNKNOWN_TTL_MS = 5_000
const ROUTES_MAX = 20_000
/** Results of an MX lookup for which a hosted domain is delivered locally. */
const LOCAL_IF_HOSTED = new Set<MxHosts['kind']>(['loop', 'no-mail', 'no-domain'])
export const SIMULATOR_ROUTE: DeliveryRoute = { destination: 'simulator', target: { kind: 'simulator' } }

export function createRouter(options: RouterOptions): Router {
  const { resolver, clock, random, simulatorDomains, ownNames, smartHostOf, securityOf, hostedOf } = options
  const cache = createExpiringMap<Promise<DeliveryRoute>>(clock, {
    ttlMs: ROUTE_TTL_MS,
    maxEntries: ROUTES_MAX,
  })
  const keep = (domain: string, route: Promise<DeliveryRoute>) =>
    keepUnlessFailed(cache, domain, route, ({ target }) =>
      target.kind === 'unknown' ? UNKNOWN_TTL_MS : undefined,
    )

  return {
    routeOf(domain) {
      if (simulatorDomains.has(domain)) return Promise.resolve(SIMULATOR_ROUTE)
      const smartHost = smartHostOf(domain)
      if (smartHost && smartHost.name !== GENERAL_SMART_HOST) return Promise.resolve(relayedBy(smartHost))
      const known = cache.get(domain)
      return known ?? keep(domain, smartHost ? unlessOurs(domain, smartHost) : lookUp(domain))
    },
    prime: (domain, route) => void keep(domain, Promise.resolve(route)),
    forget(domains) {
      if (domains === undefined) cache.clear()
      else for (const domain of domains) cache.delete(domain)
    },
  }

  async function lookUp(domain: string): Promise<DeliveryRoute> {
    const [found, security] = await Promise.all([mxHostsOf(domain), securityOf(domain)])
    if (found.kind === 'hosts') return routeTo(found.hosts, security)
    const hosted = LOCAL_IF_HOSTED.has(found.kind) ? await hostedOf(domain) : undefined
    return hosted ? into(hosted) : { destination: `!${domain}`, target: withoutHosts(found, domain) }
  }

  /**
   * Mail that the smart host would send back here is delivered locally. Only domains that are hosted here
   * cost an MX lookup.
   */
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
 * The destination is the provider that all the hosts belong to; otherwise the set of the hosts, whatever
 * their preferences.
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

/** Destination whose counters record the results; null when no connection is needed. */
export function countedDestination({ destination, target: { kind } }: DeliveryRoute): string | null {
  return kind === 'hosts' || kind === 'smart-host' ? destination : null
}
