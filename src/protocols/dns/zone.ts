/**
 * Data of the authoritative server: the static records of one zone, and DKIM keys below `dkim.<apex>`, which
 * are looked up on demand so that keys rotate without a new zone (RFC 1034 §4.3.2).
 */
import { isWithinDomain } from './name.ts'
import type { DnsRecord, TypeName } from './wire.ts'

export type SoaRecord = Extract<DnsRecord, { type: 'SOA' }>

/** Records of the type, or the CNAME in their place. `no-data`: the name exists without such records. */
type ZoneAnswer = readonly DnsRecord[] | 'no-data' | 'no-name' | 'out-of-zone'

export interface Zone {
  /** The SOA record, which every negative answer contains (RFC 2308 §3). */
  soa: SoaRecord
  /** @param name lower case, without final dot */
  lookUp(name: string, type: TypeName): ZoneAnswer | Promise<ZoneAnswer>
}

interface ZoneOptions {
  /** Lower case, without final dot, like the names of all records. */
  apex: string
  /** Contains one SOA record and at least one NS record at the apex. */
  records: readonly DnsRecord[]
  /**
   * Returns the text of the key at `<token>.dkim.<apex>` (RFC 6376 §3.6.1), or undefined if there is no such
   * key.
   */
  dkim(token: string): Promise<string | undefined> | string | undefined
  /**
   * Names in the zone that have ACME certificates. The texts at `_acme-challenge.<name>` answer the
   * challenges (RFC 8555 §8.4).
   */
  provenNames?: readonly string[]
  /** Returns the current challenge texts of a name. */
  proofs?(name: string): Promise<readonly string[]>
}

/** Short, since a revoked key must disappear within minutes. */
export const DKIM_TTL_SECONDS = 300
const PROOF_LABEL = '_acme-challenge.'
/** The authority may ask for another challenge at once. */
const PROOF_TTL_SECONDS = 0

/** @throws Error if the records are not a valid zone; the message names the record and the reason */
export function createZone({ apex, records, dkim, provenNames = [], proofs }: ZoneOptions): Zone {
  const dkimApex = `dkim.${apex}`
  const nodes = nodesOf(apex, records)
  addNode(nodes, apex, dkimApex)
  const proven = new Set(provenNames.filter(name => isWithinDomain(name, apex)))
  for (const name of proven) addNode(nodes, apex, name)

  const keyAnswer = (name: string, type: TypeName, text: string | undefined): ZoneAnswer => {
    if (text === undefined) return 'no-name'
    return type === 'TXT' ? [{ name, ttlSeconds: DKIM_TTL_SECONDS, type, text }] : 'no-data'
  }

  const proofAnswer = async (name: string, type: TypeName): Promise<ZoneAnswer> => {
    const texts = await proofs!(name.slice(PROOF_LABEL.length))
    if (texts.length === 0) return 'no-name'
    if (type !== 'TXT') return 'no-data'
    return texts.map(text => ({ name, ttlSeconds: PROOF_TTL_SECONDS, type, text }))
  }

  return {
    soa: soaOf(apex, nodes),
    lookUp(name, type) {
      if (!isWithinDomain(name, apex)) return 'out-of-zone'
      const node = nodes.get(name)
      const isProof = name.startsWith(PROOF_LABEL) && proven.has(name.slice(PROOF_LABEL.length))
      if (isProof && proofs && !node) return proofAnswer(name, type)
      if (node) return node.get(type) ?? node.get('CNAME') ?? 'no-data'
      const token = isWithinDomain(name, dkimApex) ? name.slice(0, -dkimApex.length - 1) : ''
      if (token === '' || token.includes('.')) return 'no-name'
      const text = dkim(token)
      if (!(text instanceof Promise)) return keyAnswer(name, type, text)
      return text.then(ready => keyAnswer(name, type, ready))
    },
  }
}

/** Records by name and type. Empty non-terminals have nodes, too, because they exist (RFC 8020 §2). */
type Nodes = Map<string, Map<TypeName, DnsRecord[]>>

function nodesOf(apex: string, records: readonly DnsRecord[]): Nodes {
  const nodes: Nodes = new Map()
  for (const record of records) {
    const { name, type } = record
    const refuse = (why: string) => new Error(`zone ${apex}: the ${type} record of ${name} ${why}`)
    if (!isWithinDomain(name, apex)) throw refuse('lies outside')
    if (type === 'NS' && name !== apex) throw refuse('delegates, which this server does not do')
    const node = addNode(nodes, apex, name)
    const isAlone = type === 'CNAME' ? node.size === 0 : !node.has('CNAME')
    if (!isAlone) throw refuse('stands beside a CNAME, which must be alone (RFC 2181 §10.1)')
    node.set(type, [...(node.get(type) ?? []), record])
  }
  return nodes
}

function addNode(nodes: Nodes, apex: string, name: string): Map<TypeName, DnsRecord[]> {
  const known = nodes.get(name)
  if (known) return known
  const node = new Map<TypeName, DnsRecord[]>()
  nodes.set(name, node)
  if (name !== apex) addNode(nodes, apex, name.slice(name.indexOf('.') + 1))
  return node
}

function soaOf(apex: string, nodes: Nodes): SoaRecord {
  const [soa, ...more] = nodes.get(apex)?.get('SOA') ?? []
  if (soa?.type !== 'SOA' || more.length > 0) throw new Error(`zone ${apex}: not exactly one SOA at the apex`)
  if (!nodes.get(apex)?.has('NS')) throw new Error(`zone ${apex}: no NS at the apex`)
  return soa
}
