/** Types and constants of DNS messages (RFC 1035 §4), for `wire-decode.ts` and `wire-encode.ts`. */

/** Record types with names. A record or query of any other type has the type `TYPE<n>` (RFC 3597 §5). */
export const TYPE_CODES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  DS: 43,
  TLSA: 52,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
} as const

export type TypeName = keyof typeof TYPE_CODES | `TYPE${number}`

export const CLASS_IN = 1
export const OPCODE_QUERY = 0
export const HEADER_BYTES = 12

/** Response codes (RFC 1035 §4.1.1, RFC 6891 §9). */
export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const

/** Bits of the header's second word, without opcode and response code. */
export const FLAG = {
  /** The message is a response. */
  QR: 0x8000,
  /** Authoritative answer. */
  AA: 0x0400,
  /** Truncated: the client retries over TCP. */
  TC: 0x0200,
  /** Recursion desired. */
  RD: 0x0100,
  /** Recursion available. */
  RA: 0x0080,
  /** Authentic data (RFC 4035 §3.2.3). */
  AD: 0x0020,
  /** Checking disabled (RFC 4035 §3.2.2). */
  CD: 0x0010,
} as const

/**
 * Names have no final dot; the root is `''`. An octet that is not visible ASCII, or a dot or backslash inside
 * a label, is written `\ddd`. Texts have one character per octet (latin1).
 */
export type RecordData =
  | { type: 'A' | 'AAAA'; address: string }
  | { type: 'NS' | 'CNAME' | 'PTR'; target: string }
  | { type: 'MX'; preference: number; exchange: string }
  /**
   * The strings of the record, joined. They are written as strings of at most 255 octets (RFC 6376 §3.6.2.2).
   */
  | { type: 'TXT'; text: string }
  | ({ type: 'SOA' } & SoaData)
  | { type: 'CAA'; flags: number; tag: string; value: string }
  | { type: 'HINFO'; cpu: string; os: string }
  | { type: `TYPE${number}` | 'DS' | 'TLSA'; bytes: Uint8Array }

interface SoaData {
  primary: string
  /** The mailbox, with a dot in place of its `@`. */
  contact: string
  serial: number
  refreshSeconds: number
  retrySeconds: number
  expireSeconds: number
  /** Time for which a negative answer may be cached (RFC 2308 §4). */
  minimumSeconds: number
}

export type DnsRecord = { name: string; ttlSeconds: number } & RecordData

export interface Question {
  /** Lower case; the packet may have any case. */
  name: string
  type: TypeName
  class: number
  /** Name, type and class as in the packet. A response repeats them octet for octet. */
  bytes: Uint8Array
}

/** Contents of an OPT record (RFC 6891 §6.1). Options are not read. */
export interface Edns {
  /** Largest datagram that the sender accepts. */
  payloadBytes: number
  version: number
  /** The DO bit (RFC 3225). */
  dnssecOk: boolean
}

export interface Message {
  id: number
  /** `FLAG` bits. */
  flags: number
  opcode: number
  /** Includes the upper bits of the OPT record if there is one. */
  rcode: number
  question?: Question | undefined
  answers: readonly DnsRecord[]
  authority: readonly DnsRecord[]
  /** Additional records, except OPT. */
  additional: readonly DnsRecord[]
  edns?: Edns | undefined
}

const NAMES = new Map<number, TypeName>(
  Object.entries(TYPE_CODES).map(([name, code]) => [code, name as TypeName]),
)

export function typeName(code: number): TypeName {
  return NAMES.get(code) ?? `TYPE${code}`
}

export function typeCode(name: TypeName): number {
  return name in TYPE_CODES ? TYPE_CODES[name as keyof typeof TYPE_CODES] : Number(name.slice(4))
}
