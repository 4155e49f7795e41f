/**
 * Authoritative DNS responder. It maps one query packet to one response packet or to none, with strict
 * parsing, minimal responses and no recursion (RFC 1035 §4.3.1, RFC 6891, RFC 7766, RFC 8482).
 */
import type { Log } from '../../lib/log.ts'
import type { Respond, Transport } from './listener.ts'
import { netblockOf } from './netblock.ts'
import type { ResponseRate } from './response-rate.ts'
import {
  CLASS_IN,
  type DnsRecord,
  type Edns,
  FLAG,
  HEADER_BYTES,
  type Message,
  OPCODE_QUERY,
  type Question,
  RCODE,
  type TypeName,
  typeCode,
} from './wire.ts'
import { decodeMessage, decodeReadable, MalformedMessage } from './wire-decode.ts'
import { encodeMessage, encodeTruncated } from './wire-encode.ts'
import type { SoaRecord, Zone } from './zone.ts'

/**
 * Largest datagram that is sent, whatever the client offers; IPv6 carries it without fragmentation (DNS flag
 * day 2020).
 */
const UDP_BYTES_MAX = 1_232
const PLAIN_UDP_BYTES = 512
const TCP_BYTES_MAX = 65_535
const CNAMES_MAX = 8
const HINFO_TTL_SECONDS = 3_600
/** An answer that is more than this many times as long as its query counts as amplification. */
const AMPLIFICATION_FACTOR_MAX = 3

interface Outcome {
  rcode: number
  authoritative: boolean
  answers: readonly DnsRecord[]
  authority: readonly DnsRecord[]
}

interface ResponderOptions {
  zone: Zone
  /** Rate limit for datagrams. By default there is no limit. */
  rate?: ResponseRate | undefined
  log: Log
}

export function createResponder({ zone, rate, log }: ResponderOptions): Respond {
  return (packet, transport, address) => {
    if (packet.length < HEADER_BYTES || isResponse(packet)) return undefined
    const client: Client = {
      transport,
      packet,
      limit: rate && transport === 'udp' ? { rate, network: netblockOf(address) } : undefined,
    }
    if (opcodeOf(packet) !== OPCODE_QUERY) return errorReply(client, RCODE.NOTIMP)
    if (packet.readUInt16BE(4) !== 1) return errorReply(client, RCODE.FORMERR)
    const query = decoded(packet)
    const question = query?.question
    if (!question) return errorReply(client, RCODE.FORMERR)
    return outcomeOf(zone, query, question)
      .then(outcome => reply(client, query, question, outcome))
      .catch(error => {
        log.error(
          { event: 'dns_query_failed', err: error, name: question.name },
          'A DNS query could not be answered',
        )
        return errorReply(client, RCODE.SERVFAIL)
      })
  }
}

interface Client {
  transport: Transport
  /** The query packet. */
  packet: Buffer
  limit: { rate: ResponseRate; network: string } | undefined
}

/** Truncation is useless for errors. Beyond the rate they are not sent. */
function errorReply({ packet, limit }: Client, rcode: number): Buffer | undefined {
  const sending = limit?.rate.sendingOf(limit.network, `error ${rcode}`) ?? 'whole'
  return sending === 'whole' ? errorMessage(packet, rcode) : undefined
}

function reply(
  { transport, packet, limit }: Client,
  query: Message,
  question: Question,
  outcome: Outcome,
): Buffer | undefined {
  const response = responseTo(query, question, outcome)
  const bytesMax = responseBytesMax(query, transport)
  if (!limit) return encodeMessage(response, bytesMax)
  const sending = limit.rate.sendingOf(limit.network, samenessOf(question, outcome))
  if (sending === 'nothing' || (sending === 'truncated' && isError(outcome))) return undefined
  if (sending === 'truncated') return encodeTruncated(response, bytesMax)
  const whole = encodeMessage(response, bytesMax)
  const excess = whole.length - AMPLIFICATION_FACTOR_MAX * packet.length
  if (excess <= 0 || limit.rate.mayExceed(limit.network, excess)) return whole
  return encodeTruncated(response, bytesMax)
}

function decoded(packet: Buffer): Message | undefined {
  try {
    return decodeMessage(packet)
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined
    throw error
  }
}

function responseTo(query: Message, question: Question, outcome: Outcome): Message {
  const { edns } = query
  const { rcode, authoritative, answers, authority } = outcome
  return {
    id: query.id,
    flags: FLAG.QR | (query.flags & (FLAG.RD | FLAG.CD)) | (authoritative ? FLAG.AA : 0),
    opcode: OPCODE_QUERY,
    rcode,
    question,
    answers,
    authority,
    additional: [],
    edns: ednsOf(edns),
  }
}

function responseBytesMax({ edns }: Message, transport: Transport): number {
  if (transport === 'tcp') return TCP_BYTES_MAX
  return Math.min(Math.max(edns?.payloadBytes ?? 0, PLAIN_UDP_BYTES), UDP_BYTES_MAX)
}

async function outcomeOf(zone: Zone, query: Message, question: Question): Promise<Outcome> {
  const refusal = refusalOf(query, question)
  return refusal === undefined ? inZone(zone, question) : nothing(refusal)
}

/**
 * Answers count as the same if they have the same key. All answers about names that do not exist share one.
 */
function samenessOf({ name, type }: Question, { rcode, answers }: Outcome): string {
  if (rcode !== RCODE.NOERROR) return `error ${rcode}`
  return answers.length > 0 ? `${name} ${type}` : `${name} nothing`
}

function isError({ rcode }: Outcome): boolean {
  return rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN
}

function refusalOf({ edns }: Message, question: Question): number | undefined {
  if (edns && edns.version > 0) return RCODE.BADVERS
  if (question.class !== CLASS_IN || isMetaType(question.type)) return RCODE.REFUSED
  return undefined
}

/**
 * Zone transfers and other queries that do not ask for a record type (RFC 6895 §3.1). ANY is answered
 * separately.
 */
function isMetaType(type: TypeName): boolean {
  const code = typeCode(type)
  return type === 'OPT' || (code >= 128 && code < 255)
}

async function inZone(zone: Zone, { name, type }: Question): Promise<Outcome> {
  const answers: DnsRecord[] = []
  const seen = new Set<string>()
  let at = name
  // an alias that leads back is answered once (RFC 2181 §5)
  while (seen.size <= CNAMES_MAX && !seen.has(at)) {
    seen.add(at)
    const found = await (type === 'ANY' ? lookUpAny(zone, at) : zone.lookUp(at, type))
    if (found === 'out-of-zone') break
    if (found === 'no-name') return negative(RCODE.NXDOMAIN, answers, zone.soa)
    if (found === 'no-data') return negative(RCODE.NOERROR, answers, zone.soa)
    answers.push(...found)
    const [first] = found
    if (first?.type !== 'CNAME' || type === 'CNAME' || type === 'ANY') break
    at = first.target.toLowerCase()
  }
  if (answers.length === 0) return nothing(RCODE.REFUSED)
  return { rcode: RCODE.NOERROR, authoritative: true, answers, authority: [] }
}

/**
 * A query for ANY gets one small synthetic record, since such queries are used for amplification (RFC 8482
 * §4.2).
 */
async function lookUpAny(zone: Zone, name: string) {
  const found = await zone.lookUp(name, 'HINFO')
  if (found !== 'no-data') return found
  return [{ name, ttlSeconds: HINFO_TTL_SECONDS, type: 'HINFO' as const, cpu: 'RFC8482', os: '' }]
}

function negative(rcode: number, answers: readonly DnsRecord[], soa: SoaRecord): Outcome {
  const ttlSeconds = Math.min(soa.ttlSeconds, soa.minimumSeconds)
  return { rcode, authoritative: true, answers, authority: [{ ...soa, ttlSeconds }] }
}

function nothing(rcode: number): Outcome {
  return { rcode, authoritative: false, answers: [], authority: [] }
}

/**
 * Makes a response to a query that could not be read or answered. It repeats the question if that can be
 * read, and has OPT if the query has it (RFC 6891 §6.1.1).
 */
function errorMessage(packet: Buffer, rcode: number): Buffer {
  const { question, edns } = decodeReadable(packet)
  const response: Message = {
    id: packet.readUInt16BE(0),
    flags: FLAG.QR | (packet.readUInt16BE(2) & FLAG.RD),
    opcode: opcodeOf(packet),
    rcode,
    question,
    answers: [],
    authority: [],
    additional: [],
    edns: ednsOf(edns),
  }
  return encodeMessage(response, PLAIN_UDP_BYTES)
}

function ednsOf(edns: Edns | undefined): Edns | undefined {
  return edns && { payloadBytes: UDP_BYTES_MAX, version: 0, dnssecOk: edns.dnssecOk }
}

function isResponse(packet: Buffer): boolean {
  return (packet.readUInt16BE(2) & FLAG.QR) !== 0
}

function opcodeOf(packet: Buffer): number {
  return (packet.readUInt16BE(2) >>> 11) & 15
}
