/** Looks for a missing record at hosts where it is often created by mistake. */

import type { DnsObserver } from '../../../protocols/dns/dns-observer.ts'
import type { DnsRecord, TypeName } from '../../../protocols/dns/wire.ts'
import type { Problem } from './observation.ts'

export interface Wanted {
  host: string
  type: TypeName
  /** Tells whether a record elsewhere is the missing one. */
  isOurs(record: DnsRecord): boolean
}

export interface Surroundings {
  /** Sending domain. */
  domain: string
  /** Zone that contains the domain; the domain itself if the zone is unknown. */
  zone: string
  witness: DnsObserver
}

export async function findMisplaced(wanted: Wanted, surroundings: Surroundings): Promise<Problem[]> {
  const places = placesOf(wanted.host, surroundings)
  const problems = await Promise.all(
    places.map(async ({ at, problem }) => {
      const answer = await surroundings.witness.ask(at, wanted.type)
      if (answer.kind === 'unknown') return []
      const isThere =
        answer.records.some(wanted.isOurs) ||
        answer.chain.some(target => wanted.isOurs({ name: at, ttlSeconds: 0, type: 'CNAME', target }))
      return isThere ? [problem(at)] : []
    }),
  )
  return problems.flat()
}

interface Place {
  at: string
  problem(at: string): Problem
}

/**
 * Lists the likeliest wrong hosts first: with the zone appended twice, without the zone, and without the
 * label.
 */
function placesOf(host: string, { domain, zone }: Surroundings): Place[] {
  const own = host.slice(0, -domain.length - 1)
  const doubled = (at: string): Problem => ({
    code: 'doubled_zone',
    message: `The record is at ${at}: the DNS provider appends the zone to the host name. Enter the host as ${host.slice(0, -zone.length - 1)}.`,
  })
  const places: Place[] = [{ at: `${host}.${zone}`, problem: doubled }]
  if (zone !== domain) {
    places.push({ at: `${host}.${domain}`, problem: doubled })
    places.push({
      at: `${own}.${zone}`,
      problem: at => ({
        code: 'wrong_level',
        message: `The record is at ${at}, which applies to ${zone}; for ${domain} it must be at ${host}.`,
      }),
    })
  }
  places.push({
    at: domain,
    problem: at => ({
      code: 'at_apex',
      message: `The record is at ${at}; it must be at ${host}.`,
    }),
  })
  return places
}

/** Advice for a record that was found nowhere. */
export function missing(type: string, host: string, value: string): Problem {
  return {
    code: 'missing',
    message: `Add ${type === 'MX' ? 'an' : 'a'} ${type} record at ${host} with the value ${value}.`,
  }
}
