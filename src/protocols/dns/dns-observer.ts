/**
 * Queries one DNS server, a resolver or an authoritative server, and returns its answer unmodified with its
 * TTL. Nothing is cached. Domain checks compare the answers of several servers.
 */
import type { Clock } from '../../lib/clock.ts'
import { parseQueryName } from './name.ts'
import { askServer, type Query, serverOf } from './query.ts'
import { type DnsRecord, FLAG, type Message, RCODE, type TypeName } from './wire.ts'

export type ObservedAnswer =
  | {
      kind: 'answer'
      /** Records of the queried type, at the end of the CNAME chain. */
      records: readonly DnsRecord[]
      /** Targets of the CNAMEs in the chain, in lower case. */
      chain: readonly string[]
      /** False for a name that does not exist (NXDOMAIN, RFC 8020). */
      exists: boolean
      /**
       * Number of seconds for which resolvers may cache this answer; undefined if the answer does not say.
       */
      ttlSeconds: number | undefined
    }
  /** The server did not answer, answered SERVFAIL or REFUSED, sent a malformed answer, or is lame. */
  | {
      kind: 'unknown'
      reason: string
      /** Name servers of the child zone to which the server refers, sorted. */
      refersTo?: string[]
      /** Address records that came with the referral (glue, RFC 1034 §4.2.1). */
      glue?: readonly DnsRecord[]
    }

export interface DnsObserver {
  /** Label of the server in check results. */
  server: string
  /** Never rejects. */
  ask(name: string, type: TypeName): Promise<ObservedAnswer>
}

interface DnsObserverLimits {
  clock: Clock
  /** Time limit of one attempt in ms, over UDP and, after truncation, TCP. */
  timeoutMs?: number
  tries?: number
  /** Aborts all queries. */
  signal: AbortSignal
}

const CNAMES_MAX = 16
const RCODE_NAMES = new Map<number, string>(Object.entries(RCODE).map(([name, code]) => [code, name]))
/** Servers that do not know the OPT record answer with these codes (RFC 6891 §7). */
const MAY_DISLIKE_EDNS = new Set<number>([RCODE.FORMERR, RCODE.NOTIMP])

/**
 * Observes a recursive resolver.
 * @param server `address:port`
 * @throws if the address is not an IP literal
 */
export function resolverObserver(server: string, limits: DnsObserverLimits): DnsObserver {
  return observer({ label: server, server: serverOf(server), flags: FLAG.RD }, limits)
}

/**
 * Observes an authoritative server, without recursion.
 * @param label name and address of the server, for people
 */
export function authorityObserver(
  label: string,
  server: { host: string; port: number },
  limits: DnsObserverLimits,
): DnsObserver {
  return observer({ label, server, flags: 0 }, limits)
}

interface ObservedServer extends Pick<Query, 'server' | 'flags'> {
  label: string
}

function observer({ label, server, flags }: ObservedServer, limits: DnsObserverLimits): DnsObserver {
  const { clock, timeoutMs = 2_000, tries = 2, signal: closing } = limits
  const lookUp = async (name: string, type: TypeName): Promise<ObservedAnswer> => {
    let reason = 'out of time'
    let withoutEdns = false
    for (let round = 0; round < tries && !closing.aborted; round++) {
      try {
        const query = { server, name, type, flags, withoutEdns }
        const message = await askServer(query, { clock, timeoutMs, closing })
        if (withoutEdns || !MAY_DISLIKE_EDNS.has(message.rcode))
          return observationOf(message, name, type, flags === 0)
        reason = `answers with ${rcodeName(message)}`
        withoutEdns = true
      } catch (error) {
        reason = `does not answer (${(error as Error).message})`
      }
    }
    return { kind: 'unknown', reason }
  }
  return {
    server: label,
    async ask(text, type) {
      const name = parseQueryName(text)
      if (name !== undefined) return lookUp(name, type)
      return { kind: 'answer', records: [], chain: [], exists: false, ttlSeconds: undefined }
    },
  }
}

function observationOf(message: Message, name: string, type: TypeName, mustBeOwn: boolean): ObservedAnswer {
  const { rcode, flags, answers } = message
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN)
    return { kind: 'unknown', reason: `answers with ${rcodeName(message)}` }
  if (mustBeOwn && !(flags & FLAG.AA)) return refusalOf(message)
  const { chain, records } = followed(answers, name, type)
  return { kind: 'answer', records, chain, exists: rcode === RCODE.NOERROR, ttlSeconds: ttlOf(message) }
}

/** Makes the result for a server that is not authoritative for the name (RFC 1034 §4.3.2). */
function refusalOf({ answers, authority, additional: glue }: Message): ObservedAnswer {
  const refersTo = authority.flatMap(record => (record.type === 'NS' ? [record.target.toLowerCase()] : []))
  if (answers.length === 0 && refersTo.length > 0)
    return { kind: 'unknown', reason: 'refers to other name servers', refersTo: refersTo.sort(), glue }
  return { kind: 'unknown', reason: 'is not responsible for the zone (lame)' }
}

function followed(answers: readonly DnsRecord[], name: string, type: TypeName) {
  const chain: string[] = []
  for (let at = name; chain.length <= CNAMES_MAX; at = chain.at(-1)!) {
    const here = answers.filter(answer => answer.name.toLowerCase() === at)
    const records = here.filter(answer => answer.type === type)
    const alias = here.find(answer => answer.type === 'CNAME')
    if (records.length > 0 || !alias || type === 'CNAME') return { chain, records }
    chain.push((alias as { target: string }).target.toLowerCase())
  }
  return { chain, records: [] }
}

/**
 * @returns the lowest TTL of the answers; for a negative answer the TTL that the SOA record gives (RFC 2308
 * §5)
 */
function ttlOf({ answers, authority }: Message): number | undefined {
  if (answers.length > 0) return Math.min(...answers.map(({ ttlSeconds }) => ttlSeconds))
  const soa = authority.find(record => record.type === 'SOA')
  return soa && Math.min(soa.ttlSeconds, (soa as { minimumSeconds: number }).minimumSeconds)
}

function rcodeName({ rcode }: Message): string {
  return RCODE_NAMES.get(rcode) ?? `code ${rcode}`
}
