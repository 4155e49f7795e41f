/** Parses and formats DNS records as lines of a zone file (RFC 1035 §5.1). */
import { isIPv4, isIPv6 } from 'node:net'
import { parseQueryName } from './name.ts'
import type { DnsRecord, RecordData } from './wire.ts'

/** The line is not a record that can be served. The message completes `"<line>" …`. */
export class RecordFault extends Error {}

const DEFAULT_TTL_SECONDS = 3_600
const TTL_SECONDS_MAX = 7 * 86_400
const STRING_OCTETS_MAX = 255
const TEXT_OCTETS_MAX = 8_192
const WORD = /"((?:[^"\\]|\\.)*)"|([^\s"]+)/g
const TYPES = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'TXT'] as const

/**
 * Parses one record: `<name> [ttl] [IN] <type> <data>`. `@` is the origin, and names without a final dot are
 * relative to it.
 *
 * @param origin lower case, without final dot
 * @throws RecordFault
 */
export function parseRecord(line: string, origin: string): DnsRecord {
  if (/[^"\s]"|"[^"\s]/.test(line.replace(WORD, '$2'))) throw new RecordFault('has a quotation mark too many')
  const words = [...line.matchAll(WORD)].map(([, quoted, bare]) => ({
    text: quoted?.replace(/\\(.)/g, '$1') ?? bare!,
    isQuoted: quoted !== undefined,
  }))
  const next = () => words.shift()?.text ?? ''
  const name = nameIn(next(), origin)
  let ttlSeconds = DEFAULT_TTL_SECONDS
  while (words[0] && !words[0].isQuoted && /^(?:\d+|in)$/i.test(words[0].text)) {
    const word = next()
    if (/^\d/.test(word)) ttlSeconds = numberIn(word, TTL_SECONDS_MAX)
  }
  const word = next().toUpperCase()
  const type = TYPES.find(known => known === word)
  if (!type) throw new RecordFault(`is not of a type that can be added: ${TYPES.join(', ')}`)
  const data = dataIn(
    type,
    words.map(({ text }) => text),
    origin,
  )
  return { name, ttlSeconds, ...data }
}

function dataIn(type: (typeof TYPES)[number], words: readonly string[], origin: string): RecordData {
  const [first = '', second = '', third = ''] = words
  const expectWords = (count: number) => {
    if (words.length !== count) throw new RecordFault(`has not the ${count} words of ${type} data`)
  }
  switch (type) {
    case 'A':
    case 'AAAA':
      expectWords(1)
      if (!(type === 'A' ? isIPv4 : isIPv6)(first)) throw new RecordFault(`has no address for ${type}`)
      return { type, address: first }
    case 'CNAME':
      expectWords(1)
      return { type, target: nameIn(first, origin) }
    case 'MX':
      expectWords(2)
      return {
        type,
        preference: numberIn(first, 65_535),
        exchange: second === '.' ? '' : nameIn(second, origin),
      }
    case 'CAA':
      expectWords(3)
      if (!/^[a-z0-9]{1,15}$/i.test(second)) throw new RecordFault('has no tag for CAA')
      return { type, flags: numberIn(first, 255), tag: second, value: octets(third) }
    case 'TXT': {
      const text = octets(words.join(''))
      if (words.length === 0 || text.length > TEXT_OCTETS_MAX)
        throw new RecordFault(`has no text of 1 to ${TEXT_OCTETS_MAX} octets`)
      return { type, text }
    }
  }
}

function nameIn(word: string, origin: string): string {
  if (word === '@') return origin
  const name = parseQueryName(word.endsWith('.') ? word : `${word}.${origin}`)
  if (name === undefined) throw new RecordFault(`has "${word}" for a name`)
  return name
}

function numberIn(word: string, max: number): number {
  if (!/^\d{1,9}$/.test(word) || Number(word) > max) throw new RecordFault(`has "${word}" for a number`)
  return Number(word)
}

/** Converts a text to one character per octet, which is the form of texts in records. */
function octets(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Formats a record with absolute names. */
export function recordLine(record: DnsRecord): string {
  return `${absolute(record.name)} ${record.ttlSeconds} IN ${record.type} ${recordData(record)}`
}

/** Formats the data of a record: the part after the type in a zone file. */
export function recordData(record: RecordData): string {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return record.address
    case 'NS':
    case 'CNAME':
    case 'PTR':
      return absolute(record.target)
    case 'MX':
      return `${record.preference} ${absolute(record.exchange)}`
    case 'TXT':
      return stringsOf(record.text).map(quoted).join(' ')
    case 'CAA':
      return `${record.flags} ${record.tag} ${quoted(record.value)}`
    case 'HINFO':
      return `${quoted(record.cpu)} ${quoted(record.os)}`
    case 'SOA': {
      const { primary, contact, serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds } = record
      const times = [serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds]
      return [absolute(primary), absolute(contact), ...times].join(' ')
    }
    default:
      return `\\# ${record.bytes.length} ${Buffer.from(record.bytes).toString('hex')}`.trimEnd()
  }
}

function stringsOf(text: string): string[] {
  const strings = [text.slice(0, STRING_OCTETS_MAX)]
  for (let at = STRING_OCTETS_MAX; at < text.length; at += STRING_OCTETS_MAX)
    strings.push(text.slice(at, at + STRING_OCTETS_MAX))
  return strings
}

function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&')
  return `"${escaped.replace(/[^ -~]/g, octet => `\\${String(octet.charCodeAt(0)).padStart(3, '0')}`)}"`
}

function absolute(name: string): string {
  return `${name}.`
}
