/**
 * Resolves the MX hosts of a recipient's domain and their addresses (RFC 5321 §5.1; null MX, RFC 7505). In: a
 * resolver and a domain. Out: hosts in the order of attempts, or the reason why there are none. Every
 * delivery attempt begins with this step.
 */
import type { Answer } from './answer.ts'
import { parseQueryName } from './name.ts'
import type { MxRecord, Resolver } from './resolver.ts'

export interface MxHost {
  /** Lower-case A-labels. */
  name: string
  /** Hosts with a lower preference are tried first. */
  preference: number
}

export type MxHosts =
  /** Hosts in the order of attempts. `implicit`: the domain has no MX record and is its own host. */
  | { kind: 'hosts'; hosts: readonly MxHost[]; implicit: boolean }
  /** The domain does not accept mail (RFC 7505 §3). Permanent, 5.1.10. */
  | { kind: 'null-mx' }
  /** The domain does not exist. Permanent, 5.1.2. */
  | { kind: 'no-domain' }
  /** The domain exists and has neither a usable MX record nor an address. Permanent, 5.4.4. */
  | { kind: 'no-mail' }
  /** The best MX host is this installation, so mail would loop (RFC 5321 §5.1). Permanent, 5.4.6. */
  | { kind: 'loop' }
  /** The look-up failed. Transient, 4.4.3. */
  | { kind: 'failure'; reason: string }

export interface MxOptions {
  /** Host names of this installation. */
  ownNames?: readonly string[]
  /** Returns 0 ≤ n < 1. It distributes the load over hosts with the same preference. */
  random(): number
}

/** Further hosts are never tried. */
const HOSTS_MAX = 20
const ADDRESSES_MAX = 20
const CNAMES_MAX = 16

export async function lookUpMxHosts(
  resolver: Resolver,
  domain: string,
  { ownNames = [], random }: MxOptions,
): Promise<MxHosts> {
  const { name, answer } = await followCnames(resolver, domain, resolver.mx)
  if (answer.kind === 'no-domain' || answer.kind === 'failure') return answer
  const found = answer.kind === 'found' ? explicitHosts(answer.records) : await implicitHost(resolver, name)
  if (found.kind !== 'hosts') return found
  const hosts = withoutLoop(found.hosts, ownNames)
  if (hosts.length === 0) return { kind: 'loop' }
  return { ...found, hosts: inOrderOfTrying(hosts, random).slice(0, HOSTS_MAX) }
}

function explicitHosts(records: readonly MxRecord[]): MxHosts {
  const named = records.filter(({ exchange }) => exchange !== '')
  if (named.length === 0) return { kind: 'null-mx' }
  const best = new Map<string, number>()
  for (const { exchange, preference } of named) {
    const name = parseQueryName(exchange)
    if (name !== undefined) best.set(name, Math.min(preference, best.get(name) ?? preference))
  }
  const hosts = [...best].map(([name, preference]) => ({ name, preference }))
  return hosts.length > 0 ? { kind: 'hosts', hosts, implicit: false } : { kind: 'no-mail' }
}

/**
 * Only a domain with an address is its own MX host. Looking the address up here distinguishes `no-mail` from
 * `none` of `lookUpAddresses()`.
 */
async function implicitHost(resolver: Resolver, name: string): Promise<MxHosts> {
  const addresses = await Promise.all([resolver.addresses4(name), resolver.addresses6(name)])
  if (addresses.some(({ kind }) => kind === 'found'))
    return { kind: 'hosts', hosts: [{ name, preference: 0 }], implicit: true }
  return addresses.find(answer => answer.kind === 'failure') ?? { kind: 'no-mail' }
}

/** Removes this installation and all hosts that are not preferred to it. */
function withoutLoop(hosts: readonly MxHost[], ownNames: readonly string[]): readonly MxHost[] {
  const own = new Set(ownNames.map(name => name.toLowerCase()))
  const ours = hosts.filter(({ name }) => own.has(name)).map(({ preference }) => preference)
  const nearest = Math.min(...ours)
  return hosts.filter(({ preference }) => preference < nearest)
}

/** Sorts hosts by preference, and hosts with the same preference randomly. */
export function inOrderOfTrying(hosts: readonly MxHost[], random: () => number): MxHost[] {
  return shuffled(hosts, random).sort((a, b) => a.preference - b.preference)
}

export type HostAddresses =
  /** Addresses in the order of attempts. */
  | { kind: 'addresses'; addresses: readonly string[] }
  /** The host does not exist or has no address. */
  | { kind: 'none' }
  | { kind: 'failure'; reason: string }

export interface AddressOptions {
  /** Address families that this machine can reach, the preferred one first. They alternate in the result. */
  families: readonly ('ipv4' | 'ipv6')[]
  /** Maximum number of addresses. */
  limit?: number
  random(): number
}

/** Looks up the addresses of an MX host. A host that is a CNAME violates RFC 2181 §10.3 and is tolerated. */
export async function lookUpAddresses(
  resolver: Resolver,
  host: string,
  { families, limit = ADDRESSES_MAX, random }: AddressOptions,
): Promise<HostAddresses> {
  const { answer } = await followCnames(resolver, host, async (name): Promise<Answer<string>> => {
    const lookups = await Promise.all(
      families.map(family => (family === 'ipv4' ? resolver.addresses4(name) : resolver.addresses6(name))),
    )
    const found = lookups.map(family => (family.kind === 'found' ? shuffled(family.records, random) : []))
    const records = inTurns(found)
    if (records.length > 0) return { kind: 'found', records }
    const missing =
      lookups.find(({ kind }) => kind === 'failure') ?? lookups.find(({ kind }) => kind === 'no-data')
    return missing ?? { kind: 'no-domain' }
  })
  if (answer.kind === 'found') return { kind: 'addresses', addresses: answer.records.slice(0, limit) }
  return answer.kind === 'failure' ? answer : { kind: 'none' }
}

/**
 * Follows a CNAME that the name server has not followed itself. An endless chain is a failure, as resolvers
 * answer SERVFAIL for it.
 */
async function followCnames<T>(
  resolver: Resolver,
  start: string,
  ask: (name: string) => Promise<Answer<T>>,
): Promise<{ name: string; answer: Answer<T> }> {
  let name = start.toLowerCase()
  for (let links = 0; links <= CNAMES_MAX; links++) {
    const answer = await ask(name)
    if (answer.kind !== 'no-data') return { name, answer }
    const alias = await resolver.cname(name)
    if (alias.kind === 'failure') return { name, answer: alias }
    if (alias.kind !== 'found') return { name, answer }
    name = alias.records[0]!
  }
  return { name, answer: { kind: 'failure', reason: `more than ${CNAMES_MAX} CNAMEs in a row` } }
}

/** Interleaves lists: first the first element of each, then the second of each, and so on. */
function inTurns(lists: readonly (readonly string[])[]): string[] {
  const longest = Math.max(0, ...lists.map(list => list.length))
  return Array.from({ length: longest }, (_, i) => lists.flatMap(list => list[i] ?? [])).flat()
}

/** Fisher-Yates shuffle. */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const mixed = [...items]
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[mixed[i], mixed[j]] = [mixed[j]!, mixed[i]!]
  }
  return mixed
}
