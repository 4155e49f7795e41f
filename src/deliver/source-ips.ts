/** The addresses we send from: which of them one email takes, and where one is not wanted for a while. */
import { isIPv4 } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { hashText } from '../lib/hash.ts'
import { type Id, idKey } from '../lib/ids.ts'

export interface SourceIp {
  address: string
  /** For EHLO; null where it is the installation's. */
  name: string | null
}

export interface SourceIps {
  /** One of each family that there is. The same at every attempt, so that greylisting knows it, while it is wanted there. */
  sourcesOf(emailId: Id, domain: string): readonly SourceIp[]
  /** Is left out for the domain for an hour, where there is another. @returns whether there is */
  coolOff(address: string, domain: string): boolean
}

const COOL_OFF_MS = 3_600_000
const MOST_COOLING = 10_000

/** @param all none: the system chooses */
export function createSourceIps(all: readonly SourceIp[], clock: Pick<Clock, 'monotonic'>): SourceIps {
  const families = [
    all.filter(({ address }) => isIPv4(address)),
    all.filter(({ address }) => !isIPv4(address)),
  ].filter(family => family.length > 0)
  /** Until when, monotonic ms; the ones that began first stand first. */
  const cooling = new Map<string, number>()

  const isWanted = (address: string, domain: string) =>
    (cooling.get(`${address} ${domain}`) ?? 0) <= clock.monotonic()
  const wantedOf = (family: readonly SourceIp[], domain: string) =>
    family.filter(({ address }) => isWanted(address, domain))

  return {
    sourcesOf(emailId, domain) {
      const key = idKey(emailId)
      return families.map(family => {
        if (family.length === 1) return family[0]!
        const wanted = wantedOf(family, domain)
        return highest(wanted.length > 0 ? wanted : family, key)
      })
    },
    coolOff(address, domain) {
      const family = families.find(members => members.some(member => member.address === address))
      if (!family || family.length === 1) return false
      cooling.delete(`${address} ${domain}`)
      cooling.set(`${address} ${domain}`, clock.monotonic() + COOL_OFF_MS)
      if (cooling.size > MOST_COOLING) cooling.delete(cooling.keys().next().value!)
      return wantedOf(family, domain).length > 0
    },
  }
}

/** Each email has an order of its own: where one address is left out, only its emails move. */
function highest(family: readonly SourceIp[], key: string): SourceIp {
  const rank = ({ address }: SourceIp) => hashText(`${address} ${key}`)
  return family.reduce((best, source) => (rank(source) > rank(best) ? source : best))
}
