/**
 * Decodes DNS messages. Every length is checked, and no compression pointer is followed forward (RFC 1035
 * §4.1).
 */
import ipaddr from 'ipaddr.js'
import {
  type DnsRecord,
  type Edns,
  HEADER_BYTES,
  type Message,
  type Question,
  TYPE_CODES,
  typeName,
} from './wire.ts'

/** The packet is truncated, inconsistent or has more than one question. */
export class MalformedMessage extends Error {}

const NAME_OCTETS_MAX = 255
const POINTER = 0xc0
const DNSSEC_OK = 0x8000
/** Octets outside visible ASCII, and the two characters with a meaning in names. */
const TO_ESCAPE = /[^!-~]|[.\\]/g
const NEEDS_ESCAPE = new RegExp(TO_ESCAPE, '')

/** @throws MalformedMessage */
export function decodeMessage(packet: Uint8Array): Message {
  const bytes = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength)
  if (bytes.length < HEADER_BYTES) throw new MalformedMessage('shorter than a header')
  const questionCount = bytes.readUInt16BE(4)
  if (questionCount > 1) throw new MalformedMessage(`${questionCount} questions`)
  const flags = bytes.readUInt16BE(2)
  const reader = new Reader(bytes)
  const question = questionCount === 1 ? reader.question() : undefined
  const answers = reader.records(bytes.readUInt16BE(6))
  const authority = reader.records(bytes.readUInt16BE(8))
  if (reader.edns) throw new MalformedMessage('OPT outside the additional section')
  const additional = reader.records(bytes.readUInt16BE(10))
  if (reader.at !== bytes.length) throw new MalformedMessage('octets after the last record')
  return {
    id: bytes.readUInt16BE(0),
    flags: flags & 0x87f0,
    opcode: (flags >>> 11) & 15,
    rcode: (flags & 15) | (reader.upperRcode << 4),
    question,
    answers,
    authority,
    additional,
    edns: reader.edns,
  }
}

/**
 * Reads the question and the OPT record of a query as far as possible, for a reply to a query that cannot be
 * decoded or is not supported. A packet with several questions has none here.
 */
export function decodeReadable(packet: Uint8Array): Pick<Message, 'question' | 'edns'> {
  const bytes = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength)
  const reader = new Reader(bytes)
  let question: Question | undefined
  try {
    const questionCount = bytes.readUInt16BE(4)
    for (let i = 0; i < questionCount; i++) {
      const each = reader.question()
      question = questionCount === 1 ? each : undefined
    }
    reader.skipRecords(bytes.readUInt16BE(6) + bytes.readUInt16BE(8) + bytes.readUInt16BE(10))
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error
  }
  return { question, edns: reader.edns }
}

class Reader {
  at = HEADER_BYTES
  edns: Edns | undefined
  upperRcode = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  question(): Question {
    const from = this.at
    const name = this.name().toLowerCase()
    const type = typeName(this.#u16())
    return { name, type, class: this.#u16(), bytes: this.#bytes.subarray(from, this.at) }
  }

  records(count: number): DnsRecord[] {
    const found: DnsRecord[] = []
    for (let i = 0; i < count; i++) {
      const record = this.#record()
      if (record) found.push(record)
    }
    return found
  }

  /** Reads nothing of records but the first OPT. */
  skipRecords(count: number) {
    for (let i = 0; i < count; i++) {
      const { name, code, classCode, ttl, length } = this.#head()
      if (code === TYPE_CODES.OPT && !this.edns) this.#opt(name, classCode, ttl)
      this.#take(length)
    }
  }

  #head() {
    const name = this.name()
    const code = this.#u16()
    return { name, code, classCode: this.#u16(), ttl: this.#u32(), length: this.#u16() }
  }

  #record(): DnsRecord | undefined {
    const { name, code, classCode, ttl, length } = this.#head()
    this.#need(length)
    if (code === TYPE_CODES.OPT) {
      this.#opt(name, classCode, ttl)
      this.#skipOptions(this.at + length)
      return undefined
    }
    const end = this.at + length
    const record = this.#data({ name, ttlSeconds: ttl > 0x7fffffff ? 0 : ttl }, code, end)
    if (this.at !== end) throw new MalformedMessage('record data of the wrong length')
    return record
  }

  #opt(name: string, payloadBytes: number, ttl: number) {
    if (this.edns || name !== '') throw new MalformedMessage('more than one OPT, or OPT not at the root')
    this.upperRcode = ttl >>> 24
    this.edns = { payloadBytes, version: (ttl >>> 16) & 255, dnssecOk: (ttl & DNSSEC_OK) !== 0 }
  }

  /** Options are checked for their lengths only (RFC 6891 §6.1.2). */
  #skipOptions(end: number) {
    while (this.at < end) {
      this.#u16()
      this.#take(this.#u16())
      if (this.at > end) throw new MalformedMessage('an option longer than the data of OPT')
    }
    if (this.at !== end) throw new MalformedMessage('OPT data of the wrong length')
  }

  #data(head: { name: string; ttlSeconds: number }, code: number, end: number): DnsRecord {
    const type = typeName(code)
    switch (type) {
      case 'A':
        return { ...head, type, address: this.#take(4).join('.') }
      case 'AAAA':
        return { ...head, type, address: ipaddr.fromByteArray([...this.#take(16)]).toString() }
      case 'NS':
      case 'CNAME':
      case 'PTR':
        return { ...head, type, target: this.name() }
      case 'MX':
        return { ...head, type, preference: this.#u16(), exchange: this.name() }
      case 'TXT':
        return { ...head, type, text: this.#strings(end) }
      case 'HINFO':
        return { ...head, type, cpu: this.#string(), os: this.#string() }
      case 'CAA': {
        const flags = this.#take(1)[0]!
        const tag = this.#string()
        return { ...head, type, flags, tag, value: this.#take(end - this.at).toString('latin1') }
      }
      case 'SOA':
        return {
          ...head,
          type,
          primary: this.name(),
          contact: this.name(),
          serial: this.#u32(),
          refreshSeconds: this.#u32(),
          retrySeconds: this.#u32(),
          expireSeconds: this.#u32(),
          minimumSeconds: this.#u32(),
        }
      default:
        return { ...head, type: type as 'DS', bytes: this.#take(end - this.at) }
    }
  }

  /**
   * Each compression pointer must point before the position where the name began, so that no loop is
   * possible.
   */
  name(): string {
    const bytes = this.#bytes
    const labels: string[] = []
    let at = this.at
    let lowest = this.at
    let after = 0
    let octets = 1
    for (;;) {
      if (at >= bytes.length) throw new MalformedMessage('a name breaks off')
      const length = bytes[at]!
      if (length === 0) break
      if (length >= POINTER) {
        if (at + 1 >= bytes.length) throw new MalformedMessage('a pointer breaks off')
        after ||= at + 2
        at = bytes.readUInt16BE(at) & 0x3fff
        if (at >= lowest || at < HEADER_BYTES) throw new MalformedMessage('a pointer not to an earlier name')
        lowest = at
        continue
      }
      octets += length + 1
      if (length > 63 || octets > NAME_OCTETS_MAX || at + length >= bytes.length)
        throw new MalformedMessage('a label or name too long')
      labels.push(escapeLabel(bytes.toString('latin1', at + 1, at + 1 + length)))
      at += length + 1
    }
    this.at = after || at + 1
    return labels.join('.')
  }

  #strings(end: number): string {
    let text = ''
    while (this.at < end) text += this.#string()
    return text
  }

  #string(): string {
    return this.#take(this.#take(1)[0]!).toString('latin1')
  }

  #take(count: number): Buffer {
    this.#need(count)
    this.at += count
    return this.#bytes.subarray(this.at - count, this.at)
  }

  #u16(): number {
    this.#need(2)
    this.at += 2
    return this.#bytes.readUInt16BE(this.at - 2)
  }

  #u32(): number {
    this.#need(4)
    this.at += 4
    return this.#bytes.readUInt32BE(this.at - 4)
  }

  #need(count: number) {
    if (count < 0 || this.at + count > this.#bytes.length) throw new MalformedMessage('the packet breaks off')
  }
}

function escapeLabel(label: string): string {
  if (!NEEDS_ESCAPE.test(label)) return label
  return label.replace(TO_ESCAPE, octet => `\\${String(octet.charCodeAt(0)).padStart(3, '0')}`)
}
