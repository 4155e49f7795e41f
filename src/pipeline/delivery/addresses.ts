/**
 * Lists the addresses that an attempt tries: those of the MX hosts in order of preference, with a share of
 * the limit for each host.
 *
 * In: a next hop and the source addresses. Out: one address at a time, with the TLS policy of its host.
 * Called by `attempt.ts` only.
 */
import { isIP, isIPv4 } from 'node:net'
import { isGlobalUnicast } from '../../protocols/dns/address-safety.ts'
import { type HostAddresses, inOrderOfTrying, lookUpAddresses } from '../../protocols/dns/mx-hosts.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import type { SkippedHost } from './outcome/result-without-host.ts'
import type { SourceIp } from './shaping/source-ips.ts'
import type { HostTlsPolicies, HostTlsPolicy } from './tls-policy/host-tls-policy.ts'
import type { NextHop } from './tls-policy/next-hop.ts'
import type { TlsResults } from './tls-policy/tls-results.ts'

export interface HostAddressOptions {
  resolver: Resolver
  tlsPolicies: HostTlsPolicies
  /** Null when no TLS results are counted. */
  tlsResults: TlsResults | null
  random: () => number
  allowPrivateAddresses: boolean
}

export interface HostAddress {
  host: string
  address: string
  tlsPolicy: HostTlsPolicy
  /** Undefined when the operating system chooses the source address. */
  source: SourceIp | undefined
}

/** State of the attempt, shared with the caller. */
interface SoFar {
  /** Called with the reason why a host, or one of its addresses, is not tried. */
  skip(skipped: SkippedHost): void
  /** Hosts whose remaining addresses are skipped. */
  unfit: ReadonlySet<string>
}

/** Limit for all hosts together. */
const ADDRESSES_MAX = 10
const FAMILIES = ['ipv4', 'ipv6'] as const

/**
 * Looks the addresses up host by host. Hosts of equal preference are shuffled for each attempt, since a route
 * is cached.
 * @param sources at most one address of each family; none when the operating system chooses
 */
export async function* addressesOf(
  options: HostAddressOptions,
  nextHop: NextHop,
  sources: readonly SourceIp[],
  { skip, unfit }: SoFar,
): AsyncGenerator<HostAddress> {
  let left = ADDRESSES_MAX
  for (const [i, { name: host }] of inOrderOfTrying(nextHop.hosts, options.random).entries()) {
    if (unfit.has(host)) continue
    const untried = nextHop.hosts.length - i
    if (left === 0) return skip({ why: 'limit', hostCount: untried })
    const tlsPolicy = await options.tlsPolicies.policyFor(nextHop, host)
    if ('refusal' in tlsPolicy) {
      options.tlsResults?.countRefusal(nextHop, host, tlsPolicy)
      skip({ why: 'tls-policy', host, refusal: tlsPolicy })
      continue
    }
    const addresses = await addressesOfHost(options, nextHop, host, sources, {
      skip,
      limit: Math.ceil(left / untried),
    })
    for (const address of addresses) {
      if (unfit.has(host)) break
      left--
      const source = sources.find(candidate => isIPv4(candidate.address) === isIPv4(address))
      yield { host, address, tlsPolicy, source }
    }
  }
}

async function addressesOfHost(
  { resolver, random, allowPrivateAddresses }: HostAddressOptions,
  nextHop: NextHop,
  host: string,
  sources: readonly SourceIp[],
  { skip, limit }: Pick<SoFar, 'skip'> & { limit: number },
): Promise<readonly string[]> {
  const families = familiesOf(sources)
  const found =
    isIP(host) > 0 ? itself(host) : await lookUpAddresses(resolver, host, { families, limit, random })
  if (found.kind === 'failure') {
    skip({ why: 'lookup-failed', host, reason: found.reason })
    return []
  }
  if (found.kind === 'none') {
    skip({ why: 'no-address', host, family: families.length === 1 ? families[0]! : null })
    return []
  }
  return found.addresses.filter(address => {
    const isOpen = allowPrivateAddresses || nextHop.smartHost || isGlobalUnicast(address)
    if (!isOpen) skip({ why: 'private-address', host, address })
    return isOpen
  })
}

/** With configured source addresses, only address families that have one are used. */
function familiesOf(sources: readonly SourceIp[]) {
  if (sources.length === 0) return FAMILIES
  return FAMILIES.filter(family => sources.some(({ address }) => isIPv4(address) === (family === 'ipv4')))
}

/**
 * A smart host may be configured by its address, and some MX records name an address in violation of
 * RFC 5321 §5.1.
 */
function itself(address: string): HostAddresses {
  return { kind: 'addresses', addresses: [address] }
}
