/** Which addresses an attempt tries: those of the MX hosts, in their order, of each host its share. */
import { isIP, isIPv4 } from 'node:net'
import { isGlobalUnicast } from '../../protocols/dns/address-safety.ts'
import { type HostAddresses, inOrderOfTrying, lookUpAddresses } from '../../protocols/dns/mx-hosts.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { type Outcome, outcomeWithoutHost } from './outcome/outcome.ts'
import type { SourceIp } from './shaping/source-ips.ts'
import type { HostTlsPolicies, HostTlsPolicy } from './tls-policy/host-tls-policy.ts'
import type { NextHop } from './tls-policy/next-hop.ts'
import type { TlsResults } from './tls-policy/tls-results.ts'

export interface HostAddressOptions {
  resolver: Resolver
  tlsPolicies: HostTlsPolicies
  /** Null where nobody is told of TLS. */
  tlsResults: TlsResults | null
  random: () => number
  allowPrivateAddresses: boolean
}

export interface HostAddress {
  host: string
  address: string
  tlsPolicy: HostTlsPolicy
  /** Undefined: the system chooses. */
  source: SourceIp | undefined
}

/** What the attempt has come to so far. */
interface SoFar {
  /** What keeps a host from being tried goes here, too. */
  outcomes: Outcome[]
  /** Hosts whose further addresses are left out. */
  unfit: ReadonlySet<string>
}

/** Of all hosts. */
const ADDRESSES_MAX = 10
const FAMILIES = ['ipv4', 'ipv6'] as const

/**
 * Looked up host by host. The lot among hosts of one preference is drawn anew each time: a route is kept for
 * a while.
 *
 * @param sources at most one of each family; none: the system chooses
 */
export async function* addressesOf(
  options: HostAddressOptions,
  nextHop: NextHop,
  sources: readonly SourceIp[],
  { outcomes, unfit }: SoFar,
): AsyncGenerator<HostAddress> {
  let left = ADDRESSES_MAX
  for (const [i, { name: host }] of inOrderOfTrying(nextHop.hosts, options.random).entries()) {
    if (unfit.has(host)) continue
    const untried = nextHop.hosts.length - i
    if (left === 0) {
      outcomes.unshift(outcomeWithoutHost('deferred', 'unknown', `${untried} more hosts were not tried`))
      return
    }
    const tlsPolicy = await options.tlsPolicies.policyFor(nextHop, host)
    if ('refusal' in tlsPolicy) {
      options.tlsResults?.countRefusal(nextHop, host, tlsPolicy)
      outcomes.push(outcomeWithoutHost('deferred', 'policy', tlsPolicy.refusal))
      continue
    }
    const addresses = await addressesOfHost(options, nextHop, host, sources, {
      outcomes,
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
  { outcomes, limit }: { outcomes: Outcome[]; limit: number },
): Promise<readonly string[]> {
  const families = familiesOf(sources)
  const found =
    isIP(host) > 0 ? itself(host) : await lookUpAddresses(resolver, host, { families, limit, random })
  if (found.kind === 'failure') {
    const text = `the address of ${host} is not known: ${found.reason}`
    outcomes.push({ ...outcomeWithoutHost('deferred', 'unknown', text), hostUnavailable: true })
    return []
  }
  if (found.kind === 'none') {
    const family = families.length === 1 ? `${families[0]} ` : ''
    outcomes.push(outcomeWithoutHost('bounced', 'no-route', `${host} has no ${family}address`))
    return []
  }
  return found.addresses.filter(address => {
    const isOpen = allowPrivateAddresses || nextHop.smartHost || isGlobalUnicast(address)
    if (!isOpen)
      outcomes.push(outcomeWithoutHost('bounced', 'no-route', `${host} has the private address ${address}`))
    return isOpen
  })
}

/** Nobody is spoken to from an address that the operator did not name. */
function familiesOf(sources: readonly SourceIp[]) {
  if (sources.length === 0) return FAMILIES
  return FAMILIES.filter(family => sources.some(({ address }) => isIPv4(address) === (family === 'ipv4')))
}

/** A smart host may be known by its address, and an MX record against RFC 5321 §5.1 names one. */
function itself(address: string): HostAddresses {
  return { kind: 'addresses', addresses: [address] }
}
