/**
 * The scripted DNS server of all tests: a recursive resolver on loopback whose whole world is a text. The
 * production resolver asks it over real UDP and TCP; what it was asked stands in its ledger.
 *
 *   const dns = await t.using(startZone(`
 *     there.example     MX 10 mx.there.example
 *     mx.there.example  A 127.0.0.2
 *     no-mail.example   MX 0 .
 *     broken.example    SERVFAIL
 *     half.example      TIMEOUT AAAA
 *     *.many.example    MX 10 mx.there.example
 *   `))
 *
 * Unknown names are NXDOMAIN. Behaviours: SERVFAIL REFUSED NXDOMAIN TIMEOUT TRUNCATED (TC over UDP, the
 * answer over TCP) MALFORMED, each for all types or the one named behind it.
 */

import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { createDnsListener, type Transport } from '../../src/protocols/dns/listener.ts'
import { FLAG, type Message, RCODE, type TypeName } from '../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../src/protocols/dns/wire-decode.ts'
import { encodeMessage } from '../../src/protocols/dns/wire-encode.ts'
import { createZoneWorld, type WorldReply, type ZoneWorld } from './zone-world.ts'

export interface ZoneQuery {
  /** Lower case. */
  name: string
  type: TypeName
  transport: Transport
}

export interface ZoneOptions {
  /** A loopback address. */
  host?: string
  /** Any free one where none is given. */
  port?: number
  /** Names at and under these count as signed: an answer about nothing else has the AD bit. */
  signed?: readonly string[]
  /** Answers with the first CNAME alone instead of chasing it, as servers do that are no resolvers. */
  bareCname?: boolean
  /** Is the name server of its names: answers have the AA bit, and CNAMEs are not chased. */
  authoritative?: boolean
  /** Zones that an authoritative server refers to other servers, with the addresses that it has for them. */
  delegates?: readonly string[]
}

export interface ScriptedZone {
  /** `127.0.0.1:port`, as `createResolver` takes it. */
  readonly server: string
  /** Every query that came in, oldest first. */
  readonly queries: ZoneQuery[]
  /** Replaces all lines. */
  set(text: string): void
  add(text: string): void
  /** Forgets all records and behaviours of a name. */
  remove(name: string): void
  /** Names at and under `suffix` are asked of another server, by a real UDP query. */
  forward(suffix: string, server: string): void
  close(): Promise<void>
}

const PLAIN_UDP_BYTES = 512
const TCP_BYTES = 65_535

export async function startZone(text = '', options: ZoneOptions = {}): Promise<ScriptedZone> {
  const host = options.host ?? '127.0.0.1'
  const world = createZoneWorld(text, {
    bareCname: options.bareCname ?? options.authoritative ?? false,
  })
  const queries: ZoneQuery[] = []
  const isSigned = (name: string) =>
    options.signed?.some(apex => `.${name.toLowerCase()}`.endsWith(`.${apex}`)) ?? false
  const own = options.authoritative ? FLAG.AA : FLAG.RA
  const listener = createDnsListener({
    listen: { host, port: options.port ?? 0 },
    log: createLog('warn'),
    clock: systemClock,
    async respond(packet, transport) {
      const query = decodeMessage(packet)
      const { name, type } = query.question!
      queries.push({ name, type, transport })
      if (options.delegates?.some(apex => `.${name}`.endsWith(`.${apex}`)))
        return encodeMessage(await referralOf(query, name, world), TCP_BYTES)
      const reply = await world.answer(name, type)
      const names = [name, ...reply.answers.map(answer => answer.name)]
      return packetOf(query, reply, transport, names.every(isSigned) ? FLAG.AD : 0, own)
    },
  })
  const { port } = await listener.listen()
  return {
    server: host.includes(':') ? `[::1]:${port}` : `${host}:${port}`,
    queries,
    set: world.set,
    add: world.add,
    remove: world.remove,
    forward: world.forward,
    close() {
      world.close()
      return listener.close()
    },
  }
}

/** Referral of a parent zone with its glue, without the AA bit (RFC 1034 §4.2.1). */
async function referralOf(query: Message, name: string, world: ZoneWorld): Promise<Message> {
  const { answers: authority } = await world.answer(name, 'NS')
  const targets = authority.flatMap(record => (record.type === 'NS' ? [record.target.toLowerCase()] : []))
  const glue = targets.flatMap(target => [world.answer(target, 'A'), world.answer(target, 'AAAA')])
  const additional = (await Promise.all(glue)).flatMap(({ answers }) => answers)
  return {
    ...{ id: query.id, flags: FLAG.QR, opcode: 0, rcode: RCODE.NOERROR, question: query.question },
    ...{ answers: [], authority, additional },
  }
}

function packetOf(
  query: Message,
  { rcode, answers, behaviour }: WorldReply,
  transport: Transport,
  authentic: number,
  own: number,
): Buffer | undefined {
  if (behaviour === 'TIMEOUT') return undefined
  const cut = behaviour === 'TRUNCATED' && transport === 'udp'
  const message: Message = {
    id: query.id,
    flags: FLAG.QR | own | (query.flags & FLAG.RD) | (query.flags & authentic) | (cut ? FLAG.TC : 0),
    opcode: 0,
    rcode,
    question: query.question,
    answers: cut ? [] : answers,
    authority: [],
    additional: [],
    edns: query.edns && { payloadBytes: 1232, version: 0, dnssecOk: false },
  }
  const limit = transport === 'tcp' ? TCP_BYTES : (query.edns?.payloadBytes ?? PLAIN_UDP_BYTES)
  const packet = encodeMessage(message, Math.max(limit, PLAIN_UDP_BYTES))
  if (behaviour !== 'MALFORMED') return packet
  packet.writeUInt16BE(7, 6)
  return packet
}
