/** The addresses we send from, which of them an email prefers, and where one is not wanted for a while. */
import { isIPv4 } from 'node:net'
import type { Clock } from '../../../lib/clock.ts'
import { hashText } from '../../../lib/hash.ts'
import { type Id, idKey } from '../../../lib/ids.ts'

export interface SourceIp {
  address: string
  /** For EHLO; null where it is the installation's. */
  name: string | null
}

/** What one delivery leaves from: one address of each family that there is; none where the system chooses. */
export interface EgressSource {
  /** Its addresses, with a space between them; empty where the system chooses. */
  readonly name: string
  readonly ips: readonly SourceIp[]
}

export interface SourceIps {
  /** At least one. */
  readonly sources: readonly EgressSource[]
  /** Whether mail for the domain may leave from there: none of its addresses is left out. */
  isUsable(source: EgressSource, domain: string): boolean
  /** Is left out for the domain for an hour, where there is another. @returns whether there is */
  coolOff(address: string, domain: string): boolean
}

const COOL_OFF_MS = 3_600_000
const COOLING_ENTRIES_MAX = 10_000

/** @param all none: the system chooses */
export function createSourceIps(all: readonly SourceIp[], clock: Pick<Clock, 'monotonic'>): SourceIps {
  const families = familiesOf(all)
  const sources = sourcesOf(families)
  /** Until when, monotonic ms; the ones that began first stand first. */
  const cooling = new Map<string, number>()

  const isCooling = (address: string, domain: string) =>
    (cooling.get(`${address} ${domain}`) ?? 0) > clock.monotonic()

  return {
    sources,
    isUsable: ({ ips }, domain) =>
      cooling.size === 0 || !ips.some(({ address }) => isCooling(address, domain)),
    coolOff(address, domain) {
      const family = families.find(members => members.some(member => member.address === address))
      if (!family || family.length === 1) return false
      cooling.delete(`${address} ${domain}`)
      cooling.set(`${address} ${domain}`, clock.monotonic() + COOL_OFF_MS)
      if (cooling.size > COOLING_ENTRIES_MAX) cooling.delete(cooling.keys().next().value!)
      return family.some(member => !isCooling(member.address, domain))
    },
  }
}

/**
 * Each email has an order of its own: where one source is left out, only its emails move. The first one best.
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

/** As many as the larger family has addresses; those of the smaller one are used several times. */
function sourcesOf(families: readonly (readonly SourceIp[])[]): EgressSource[] {
  const count = Math.max(1, ...families.map(family => family.length))
  return Array.from({ length: count }, (_, i) => {
    const ips = families.map(family => family[i % family.length]!)
    return { name: ips.map(({ address }) => address).join(' '), ips }
  })
}
