/**
 * Finds the authoritative name servers of the zone of a name: the NS records, their addresses, whether they
 * answer for the zone, and whether the parent zone delegates to the same servers (RFC 1034 §4.2.2).
 */

import type { DnsObserver, ObservedAnswer } from './dns-observer.ts'
import type { TypeName } from './wire.ts'

interface NameServer {
  /** Host name in lower case. */
  name: string
  /** Null if the server has no address that may be queried. */
  address: string | null
  status: 'answers' | 'lame' | 'silent' | 'no_address' | 'not_public'
  /** Reason of a failure; null if the server answers. */
  reason: string | null
}

export interface ZoneServers {
  /** Apex of the zone; null when no zone was found or no resolver answered. */
  zone: string | null
  /** Names of the NS records of the zone itself, sorted. */
  names: string[]
  /** Results for the first `SERVERS_MAX` names. */
  servers: NameServer[]
  /** Observers of the servers that answer. */
  observers: DnsObserver[]
  /** NS names in the parent zone's delegation, sorted; null when they could not be determined. */
  delegatedTo: string[] | null
}

interface FindOptions {
  /** Resolvers, queried one after another until one answers. */
  resolvers: readonly DnsObserver[]
  /** Tells whether a name server at this address may be queried. */
  isAllowed(address: string): boolean
  /** @param label name and address of the server, for people */
  openObserver(label: string, address: string): DnsObserver
}

const SERVERS_MAX = 4
/** Further NS names are ignored. */
const NAMES_MAX = 13

export async function findZoneServers(domain: string, options: FindOptions): Promise<ZoneServers> {
  const found = await zoneAbove(domain, options)
  if (!found) return { zone: null, names: [], servers: [], observers: [], delegatedTo: null }
  const { zone, names } = found
  const [opened, delegatedTo] = await Promise.all([
    Promise.all(names.slice(0, SERVERS_MAX).map(name => openServer(name, zone, options))),
    delegationOf(zone, options),
  ])
  return {
    zone,
    names,
    servers: opened.map(({ server }) => server),
    observers: opened.flatMap(({ observer }) => observer ?? []),
    delegatedTo,
  }
}

/** Finds the nearest zone cut at or above a name, but not that of a top-level domain. */
async function zoneAbove(
  domain: string,
  { resolvers }: FindOptions,
): Promise<{ zone: string; names: string[] } | undefined> {
  for (let zone = domain; zone.includes('.'); zone = parentOf(zone)) {
    const answer = await askAny(resolvers, zone, 'NS')
    if (answer.kind === 'unknown') return undefined
    // An alias is not a zone apex.
    const names = answer.chain.length === 0 ? serverNames(answer) : []
    if (names.length > 0) return { zone, names }
  }
  return undefined
}

async function openServer(
  name: string,
  zone: string,
  { resolvers, isAllowed, openObserver }: FindOptions,
): Promise<{ server: NameServer; observer?: DnsObserver }> {
  const addresses = await addressesOf(name, resolvers)
  const address = addresses.find(isAllowed)
  if (address === undefined) {
    const status = addresses.length > 0 ? 'not_public' : 'no_address'
    const reason = addresses.length > 0 ? 'has no public address' : 'has no address'
    return { server: { name, address: null, status, reason } }
  }
  const observer = openObserver(`${name} (${address})`, address)
  const soa = await observer.ask(zone, 'SOA')
  if (soa.kind === 'answer' && soa.records.length > 0)
    return { server: { name, address, status: 'answers', reason: null }, observer }
  const reason = soa.kind === 'unknown' ? soa.reason : 'does not know the zone'
  const status = reason.startsWith('does not answer') || reason === 'out of time' ? 'silent' : 'lame'
  return { server: { name, address, status, reason } }
}

/** Looks up the NS names in the parent zone's referral. Null when they could not be determined. */
async function delegationOf(zone: string, options: FindOptions): Promise<string[] | null> {
  const found = await findDelegation(zone, options)
  return found.kind === 'delegated' ? found.names : null
}

export type Delegation =
  | {
      kind: 'delegated'
      /** NS names, sorted. */
      names: string[]
      /** Addresses of the name servers in the parent zone, by name in lower case. */
      glue: ReadonlyMap<string, readonly string[]>
    }
  /** The server of the parent zone says that there are no NS records. */
  | { kind: 'absent'; server: string }
  | { kind: 'unknown'; reason: string }

/**
 * Asks the name servers of the parent zone for the delegation, which they answer with a referral without the
 * AA bit (RFC 1034 §4.3.2). The name servers of the zone itself need not run yet.
 */
export async function findDelegation(zone: string, options: FindOptions): Promise<Delegation> {
  const { resolvers, isAllowed, openObserver } = options
  const above = await askParents(parentOf(zone), resolvers)
  let last: Delegation = { kind: 'unknown', reason: `the name servers of ${parentOf(zone)} are not known` }
  for (const name of above.slice(0, 2)) {
    const address = (await addressesOf(name, resolvers)).find(isAllowed)
    if (address === undefined) continue
    const server = `${name} (${address})`
    const referral = await openObserver(server, address).ask(zone, 'NS')
    const names = referral.kind === 'answer' ? serverNames(referral) : (referral.refersTo ?? [])
    if (names.length > 0) return { kind: 'delegated', names, glue: glueOf(referral) }
    if (referral.kind === 'answer') last = { kind: 'absent', server }
    else if (last.kind === 'unknown') last = { kind: 'unknown', reason: `${server} ${referral.reason}` }
  }
  return last
}

function glueOf(referral: ObservedAnswer): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const record of (referral.kind === 'unknown' && referral.glue) || [])
    if ('address' in record) {
      const name = record.name.toLowerCase()
      found.set(name, [...(found.get(name) ?? []), record.address])
    }
  return found
}

/** Finds the servers of the zone that holds the delegation, which may be several labels up. */
async function askParents(from: string, resolvers: readonly DnsObserver[]): Promise<string[]> {
  for (let name = from; name !== ''; name = parentOf(name)) {
    const answer = await askAny(resolvers, name, 'NS')
    if (answer.kind === 'unknown') return []
    const names = serverNames(answer)
    if (names.length > 0) return names
  }
  return []
}

async function addressesOf(name: string, resolvers: readonly DnsObserver[]): Promise<string[]> {
  for (const type of ['A', 'AAAA'] as const) {
    const answer = await askAny(resolvers, name, type)
    const found =
      answer.kind === 'answer' ? answer.records.flatMap(r => ('address' in r ? [r.address] : [])) : []
    if (found.length > 0) return found
  }
  return []
}

async function askAny(
  resolvers: readonly DnsObserver[],
  name: string,
  type: TypeName,
): Promise<ObservedAnswer> {
  let last: ObservedAnswer = { kind: 'unknown', reason: 'there is nobody to ask' }
  for (const resolver of resolvers) {
    last = await resolver.ask(name, type)
    if (last.kind === 'answer') return last
  }
  return last
}

function serverNames({ records }: Extract<ObservedAnswer, { kind: 'answer' }>): string[] {
  return records
    .flatMap(record => (record.type === 'NS' ? [record.target.toLowerCase()] : []))
    .sort()
    .slice(0, NAMES_MAX)
}

function parentOf(name: string): string {
  const dot = name.indexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1)
}
