/**
 * Encodes DNS messages with name compression, and truncates those that do not fit (RFC 1035 §4.1, RFC 2181
 * §9).
 */
import ipaddr from 'ipaddr.js'
import {
  CLASS_IN,
  type DnsRecord,
  type Edns,
  FLAG,
  HEADER_BYTES,
  type Message,
  TYPE_CODES,
  type TypeName,
  typeCode,
} from './wire.ts'

const LABEL_OCTETS_MAX = 63
const STRING_OCTETS_MAX = 255
const NAME_OCTETS_MAX = 255
/** Type and class behind the name of a question. */
const QUESTION_TAIL_BYTES = 4
const POINTER_MAX = 0x3fff
const POINTER = 0xc000

/**
 * Encodes a message in at most `limitBytes`. A message that does not fit is sent with its question only and
 * the TC bit set, never with a part of a record set.
 *
 * @throws RangeError if a name, string or number cannot be encoded
 */
export function encodeMessage(message: Message, limitBytes: number): Buffer {
  return write(message, limitBytes) ?? encodeTruncated(message, limitBytes)
}

/** Encodes the question section of a query. */
export function encodeQuestion(name: string, type: TypeName): Buffer {
  const writer = new Writer(260)
  writer.name(name)
  writer.u16(typeCode(type))
  writer.u16(CLASS_IN)
  return writer.done()
}

/**
 * Encodes the question only, with the TC bit set: the client retries over TCP.
 * @throws RangeError if the question does not fit
 */
export function encodeTruncated(message: Message, limitBytes: number): Buffer {
  const bare = { ...message, flags: message.flags | FLAG.TC, answers: [], authority: [], additional: [] }
  const packet = write(bare, limitBytes)
  if (!packet) throw new RangeError(`a limit of ${limitBytes} octets has no room for the question`)
  return packet
}

function write(message: Message, limitBytes: number): Buffer | undefined {
  const { question, answers, authority, additional, edns } = message
  const writer = new Writer(limitBytes)
  writer.u16(message.id)
  writer.u16(message.flags | (message.opcode << 11) | (message.rcode & 15))
  writer.u16(question ? 1 : 0)
  writer.u16(answers.length)
  writer.u16(authority.length)
  writer.u16(additional.length + (edns ? 1 : 0))
  if (question) writer.question(question.name, question.bytes)
  for (const record of answers) writer.record(record)
  for (const record of authority) writer.record(record)
  if (edns) writer.opt(edns, message.rcode)
  for (const record of additional) writer.record(record)
  return writer.full ? undefined : writer.done()
}

class Writer {
  full = false
  #at = 0
  readonly #bytes: Buffer
  readonly #limit: number
  /**
   * Offsets of the names written so far. The letter case counts, so that records keep theirs (RFC 4343
   * §4.1).
   */
  readonly #places = new Map<string, number>()
  /** Name of the question in lower case. */
  #questionName = ''

  constructor(limitBytes: number) {
    this.#bytes = Buffer.allocUnsafe(limitBytes)
    this.#limit = limitBytes
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  u8(value: number) {
    if (this.#has(1)) this.#at = this.#bytes.writeUInt8(value, this.#at)
  }

  u16(value: number) {
    if (this.#has(2)) this.#at = this.#bytes.writeUInt16BE(value, this.#at)
  }

  u32(value: number) {
    if (this.#has(4)) this.#at = this.#bytes.writeUInt32BE(value, this.#at)
  }

  raw(bytes: Uint8Array) {
    if (!this.#has(bytes.length)) return
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  latin1(text: string) {
    if (this.#has(text.length)) this.#at += this.#bytes.write(text, this.#at, 'latin1')
  }

  string(text: string) {
    if (text.length > STRING_OCTETS_MAX) throw new RangeError('a string of more than 255 octets')
    this.u8(text.length)
    this.latin1(text)
  }

  /** @param name in lower case; only those parts that the packet has in lower case are referred to later */
  question(name: string, bytes: Uint8Array) {
    this.#questionName = name
    const lastCapital = bytes.subarray(0, -QUESTION_TAIL_BYTES).findLastIndex(isCapital)
    let at = 0
    for (let rest = name; rest !== ''; rest = parentOf(rest)) {
      if (at > lastCapital) this.#places.set(rest, HEADER_BYTES + at)
      at += bytes[at]! + 1
    }
    this.raw(bytes)
  }

  name(name: string) {
    const startsAt = this.#at
    let from = 0
    while (from < name.length) {
      const rest = name.slice(from)
      const known = this.#places.get(rest)
      if (known !== undefined) return this.u16(POINTER | known)
      if (this.#at <= POINTER_MAX) this.#places.set(rest, this.#at)
      const dot = name.indexOf('.', from)
      const end = dot < 0 ? name.length : dot
      this.#label(name.slice(from, end))
      from = end + 1
      if (this.#at - startsAt >= NAME_OCTETS_MAX) throw new RangeError('a name of more than 255 octets')
    }
    this.u8(0)
  }

  /** Some clients expect the name that they asked about in their own letter case. */
  #owner(name: string) {
    if (name !== '' && name.toLowerCase() === this.#questionName) this.u16(POINTER | HEADER_BYTES)
    else this.name(name)
  }

  #label(text: string) {
    const octets = text.includes('\\') ? unescapeLabel(text) : text
    if (octets.length === 0 || octets.length > LABEL_OCTETS_MAX)
      throw new RangeError(`no label: ${JSON.stringify(text)}`)
    this.u8(octets.length)
    this.latin1(octets)
  }

  record(record: DnsRecord) {
    this.#owner(record.name)
    this.u16(typeCode(record.type))
    this.u16(CLASS_IN)
    this.u32(record.ttlSeconds)
    const lengthAt = this.#at
    this.u16(0)
    this.#data(record)
    if (!this.full) this.#bytes.writeUInt16BE(this.#at - lengthAt - 2, lengthAt)
  }

  #data(record: DnsRecord) {
    switch (record.type) {
      case 'A':
      case 'AAAA':
        return this.#address(record)
      case 'NS':
      case 'CNAME':
      case 'PTR':
        return this.name(record.target)
      case 'MX':
        this.u16(record.preference)
        return this.name(record.exchange)
      case 'TXT':
        return this.#text(record.text)
      case 'HINFO':
        this.string(record.cpu)
        return this.string(record.os)
      case 'CAA':
        this.u8(record.flags)
        this.string(record.tag)
        return this.latin1(record.value)
      case 'SOA':
        this.name(record.primary)
        this.name(record.contact)
        this.u32(record.serial)
        this.u32(record.refreshSeconds)
        this.u32(record.retrySeconds)
        this.u32(record.expireSeconds)
        return this.u32(record.minimumSeconds)
      default:
        return this.raw(record.bytes)
    }
  }

  #address({ type, address }: { type: 'A' | 'AAAA'; address: string }) {
    const parsed = type === 'A' ? ipaddr.IPv4.parse(address) : ipaddr.IPv6.parse(address)
    this.raw(Uint8Array.from(parsed.toByteArray()))
  }

  #text(text: string) {
    for (let at = 0; at === 0 || at < text.length; at += STRING_OCTETS_MAX)
      this.string(text.slice(at, at + STRING_OCTETS_MAX))
  }

  opt({ payloadBytes, version, dnssecOk }: Edns, rcode: number) {
    this.u8(0)
    this.u16(TYPE_CODES.OPT)
    this.u16(payloadBytes)
    this.u8(rcode >>> 4)
    this.u8(version)
    this.u16(dnssecOk ? 0x8000 : 0)
    this.u16(0)
  }

  #has(count: number): boolean {
    if (this.#at + count > this.#limit) this.full = true
    return !this.full
  }
}

function isCapital(octet: number): boolean {
  return octet >= 0x41 && octet <= 0x5a
}

function parentOf(name: string): string {
  const dot = name.indexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1)
}

function unescapeLabel(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number(code) & 255))
}
