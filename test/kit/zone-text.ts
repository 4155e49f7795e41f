/** The text that scripts a DNS zone for tests: records and misbehaviours, one a line. */
import type { DnsRecord } from '../../src/protocols/dns/wire.ts'

/** Behaviours of a name that replace its records; with a type behind it, for that type alone. */
const BEHAVIOURS = ['SERVFAIL', 'REFUSED', 'NXDOMAIN', 'TIMEOUT', 'TRUNCATED', 'MALFORMED'] as const
export type Behaviour = (typeof BEHAVIOURS)[number]

export type ZoneEntry =
  | { record: DnsRecord }
  | { name: string; behaviour: Behaviour; type: string | undefined }

const DEFAULT_TTL_SECONDS = 60
const TOKEN = /"((?:[^"\\]|\\.)*)"|(\S+)/g

/** `;` and `#` begin a comment line. @throws on a line that says nothing known */
export function parseZoneText(text: string): ZoneEntry[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !/^[;#]/.test(line))
    .map(parseLine)
}

function parseLine(line: string): ZoneEntry {
  const tokens = [...line.matchAll(TOKEN)].map(([, quoted, bare]) =>
    quoted === undefined ? bare! : quoted.replace(/\\(.)/g, '$1'),
  )
  const name = bareName(tokens.shift()!).toLowerCase()
  const ttlSeconds = /^\d+$/.test(tokens[0] ?? '') ? Number(tokens.shift()) : DEFAULT_TTL_SECONDS
  const word = (tokens.shift() ?? '').toUpperCase()
  const behaviour = BEHAVIOURS.find(known => known === word)
  if (behaviour) return { name, behaviour, type: tokens[0] }
  return { record: parseRecord({ name, ttlSeconds }, word, tokens, line) }
}

function parseRecord(
  head: { name: string; ttlSeconds: number },
  type: string,
  data: string[],
  line: string,
): DnsRecord {
  const [first = '', second = '', third = ''] = data
  switch (type) {
    case 'A':
    case 'AAAA':
      return { ...head, type, address: first }
    case 'NS':
    case 'CNAME':
    case 'PTR':
      return { ...head, type, target: bareName(first) }
    case 'MX':
      return { ...head, type, preference: Number(first), exchange: bareName(second) }
    case 'TXT':
      return { ...head, type, text: data.join('') }
    case 'TLSA':
      return { ...head, type, bytes: tlsaBytes(first, second, third, data[3] ?? '') }
    case 'CAA':
      return { ...head, type, flags: Number(first), tag: second, value: third }
    case 'SOA': {
      const [
        serial = 1,
        refreshSeconds = 3600,
        retrySeconds = 600,
        expireSeconds = 86400,
        minimumSeconds = 60,
      ] = data.slice(2).map(Number)
      const times = { serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds }
      return { ...head, type, primary: bareName(first), contact: bareName(second), ...times }
    }
    default:
      throw new Error(`zone text: cannot read "${line}"`)
  }
}

function tlsaBytes(usage: string, selector: string, matching: string, hex: string): Uint8Array {
  return Buffer.concat([
    Buffer.from([Number(usage), Number(selector), Number(matching)]),
    Buffer.from(hex, 'hex'),
  ])
}

/** Without the final dot; the root, `.`, is the empty name. */
function bareName(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name
}
