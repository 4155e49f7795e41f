/**
 * Source IP addresses: groups them into egress sources, gives each email its order of preference, and
 * remembers which domains refuse an address.
 */
import { isIPv4 } from 'node:net'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import { hashText } from '../../../lib/hash.ts'
import { type Id, idKey } from '../../../lib/ids.ts'
import type { Resolver } from '../../../protocols/dns/resolver.ts'
import { nameFaults } from '../../../protocols/dns/reverse.ts'

export interface SourceIp {
  address: string
  /** Name for EHLO; null for the name of the installation. */
  name: string | null
}

/**
 * The addresses that a delivery may leave from: one for each address family that is configured; none when the
 * operating system chooses.
 */
export interface EgressSource {
  /** The addresses, separated by spaces; empty when the operating system chooses. */
  readonly name: string
  readonly ips: readonly SourceIp[]
}

export interface SourceIps {
  /** Never empty. */
  readonly sources: readonly EgressSource[]
  /** Whether mail for the domain may leave from the source: none of its addresses is cooling off there. */
  isUsable(source: EgressSource, domain: string): boolean
  /**
   * Excludes an address for a domain for one hour. @returns whether another address of the family can be used
   */
  coolOff(address: string, domain: string): boolean
}

const COOL_OFF_MS = 3_600_000
const COOLING_ENTRIES_MAX = 10_000

/** @param all the configured addresses; when empty, the operating system chooses */
export function createSourceIps(all: readonly SourceIp[], clock: Pick<Clock, 'monotonic'>): SourceIps {
  const families = familiesOf(all)
  const sources = sourcesOf(families)
  /** End of each cool-off in monotonic ms, oldest entry first. */
  const cooling = new BoundedMap<string, number>(COOLING_ENTRIES_MAX)

  const isCooling = (address: string, domain: string) =>
    (cooling.get(`${address} ${domain}`) ?? 0) > clock.monotonic()

  return {
    sources,
    isUsable: ({ ips }, domain) =>
      cooling.size === 0 || !ips.some(({ address }) => isCooling(address, domain)),
    coolOff(address, domain) {
      const family = families.find(members => members.some(member => member.address === address))
      if (!family || family.length === 1) return false
      cooling.set(`${address} ${domain}`, clock.monotonic() + COOL_OFF_MS)
      return family.some(member => !isCooling(member.address, domain))
    },
  }
}

/**
 * Checks the names of the source addresses, as receivers do.
 * @param localName name for addresses without one of their own
 */
export async function checkSourceNames(
  resolver: Resolver,
  all: readonly SourceIp[],
  localName: string,
  onFault: (address: string, fault: string) => void,
): Promise<void> {
  for (const { address, name } of all)
    for (const fault of await nameFaults(resolver, address, name ?? localName)) onFault(address, fault)
}

/**
 * Orders the sources for an email, best first, by rendezvous hashing: when a source is excluded, only the
 * emails that preferred it move.
 */
export function inOrderOf<T extends { source: EgressSource }>(emailId: Id, candidates: readonly T[]): T[] {
  const key = idKey(emailId)
  return candidates
    .map(candidate => ({ candidate, rank: hashText(`${candidate.source.name} ${key}`) }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ candidate }) => candidate)
}

function familiesOf(all: readonly SourceIp[]): (readonly SourceIp[])[] {
  return [all.filter(({ address }) => isIPv4(address)), all.filter(({ address }) => !isIPv4(address))].filter(
    family => family.length > 0,
  )
}

/**
 * There are as many sources as the larger family has addresses; addresses of the smaller family are used
 * several times.
 */
function sourcesOf(families: readonly (readonly SourceIp[])[]): EgressSource[] {
  const count = Math.max(1, ...families.map(family => family.length))
  return Array.from({ length: count }, (_, i) => {
    const ips = families.map(family => family[i % family.length]!)
    return { name: ips.map(({ address }) => address).join(' '), ips }
  })
}
