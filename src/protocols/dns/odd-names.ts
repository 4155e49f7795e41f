/**
 * Looks up names that are not host names, which the runtime's resolver refuses. SPF macros build such names
 * from input of the sender (RFC 7208 §7). They are rare and not cached.
 */
import dns from 'node:dns'
import type { Clock } from '../../lib/clock.ts'
import type { Answer, LookUp } from './answer.ts'
import { parseQueryName } from './name.ts'
import { askServer, serverOf } from './query.ts'
import type { MxRecord, Resolver } from './resolver.ts'
import { type DnsRecord, FLAG, RCODE, type TypeName } from './wire.ts'

interface OddNamesOptions {
  /** Servers of the resolver; an empty list means those of the system. */
  servers: readonly string[]
  clock: Clock
  /** Time limit for each server, in ms. */
  timeoutMs: number
}

type Kinds = 'txt' | 'addresses4' | 'addresses6' | 'mx'

/** Printable names of at most 253 octets (RFC 2181 §11). */
const ODD_NAME = /^(?!.{254})[ -~]+$/
const LABEL_OCTETS_MAX = 63

/** Extends a resolver so that these record types can be looked up for any name. */
export function withOddNames<R extends Pick<Resolver, Kinds>>(resolver: R, options: OddNamesOptions): R {
  const { clock, timeoutMs } = options
  const closing = new AbortController().signal
  const servers = (options.servers.length > 0 ? options.servers : dns.getServers()).map(serverOf)

  const ask = async <T>(
    text: string,
    type: TypeName,
    read: (record: DnsRecord) => T | undefined,
  ): Promise<Answer<T>> => {
    const name = escaped(text)
    if (name === undefined) return { kind: 'no-domain' }
    let reason = 'no name server is configured'
    for (const server of servers)
      try {
        const reply = await askServer({ server, name, type, flags: FLAG.RD }, { clock, timeoutMs, closing })
        if (reply.rcode === RCODE.NXDOMAIN) return { kind: 'no-domain' }
        const records = reply.answers.flatMap(record => read(record) ?? [])
        if (reply.rcode === RCODE.NOERROR)
          return records.length > 0 ? { kind: 'found', records } : { kind: 'no-data' }
        reason = `the name server answered with code ${reply.rcode}`
      } catch (error) {
        reason = `the name server does not answer (${(error as Error).message})`
      }
    return { kind: 'failure', reason }
  }
  const either =
    <T>(plain: LookUp<T>, type: TypeName, read: (record: DnsRecord) => T | undefined): LookUp<T> =>
    (name, lookUpOptions) =>
      parseQueryName(name) === undefined ? ask(name, type, read) : plain(name, lookUpOptions)

  return {
    ...resolver,
    txt: either(resolver.txt, 'TXT', record => (record.type === 'TXT' ? record.text : undefined)),
    addresses4: either(resolver.addresses4, 'A', record =>
      record.type === 'A' ? record.address : undefined,
    ),
    addresses6: either(resolver.addresses6, 'AAAA', record =>
      record.type === 'AAAA' ? record.address : undefined,
    ),
    mx: either(resolver.mx, 'MX', mxIn),
  }
}

function mxIn(record: DnsRecord): MxRecord | undefined {
  if (record.type !== 'MX') return undefined
  return { exchange: record.exchange.toLowerCase(), preference: record.preference }
}

/**
 * Escapes blanks and backslashes.
 * @returns undefined if the text cannot be a domain name
 */
function escaped(text: string): string | undefined {
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase()
  const isName =
    ODD_NAME.test(name) && name.split('.').every(({ length }) => length > 0 && length <= LABEL_OCTETS_MAX)
  return isName
    ? name.replace(/[ \\]/g, octet => `\\${String(octet.charCodeAt(0)).padStart(3, '0')}`)
    : undefined
}
