/**
 * Identifiers: UUIDv7, 16 bytes in the program and the database, `<prefix>_<hyphenated uuid>` on the wire.
 */
import { randomFillSync } from 'node:crypto'

/** 16 bytes of a UUIDv7 (RFC 9562 §5.7). The ids that one process creates are in ascending order. */
export type Id = Uint8Array

export type IdPrefix =
  | 'acc'
  | 'usr'
  | 'ses'
  | 'key'
  | 'tok'
  | 'dom'
  | 'dcl'
  | 'aud'
  | 'con'
  | 'imp'
  | 'seg'
  | 'top'
  | 'brd'
  | 'eml'
  | 'rcp'
  | 'tpl'
  | 'ver'
  | 'wh'
  | 'whd'
  | 'sup'
  | 'inb'
  | 'evt'
  | 'att'
  | 'shr'
  | 'hld'
  | 'prp'
  | 'log'
  | 'alr'
  | 'rte'
  | 'rtl'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const COUNTER_MAX = 0xfff

export type IdSource = (nowMs: number) => Id

/**
 * Creates a source of ids. Within one millisecond, or when the clock steps back, a counter keeps ids
 * ascending.
 */
export function createIdSource(): IdSource {
  const pool = new Uint8Array(8 * 512)
  let poolAt = pool.length
  let lastMs = 0
  let counter = 0
  return nowMs => {
    if (poolAt === pool.length) {
      randomFillSync(pool)
      poolAt = 0
    }
    if (nowMs > lastMs) {
      lastMs = nowMs
      counter = pool[poolAt]! & 0x7f
    } else if (++counter > COUNTER_MAX) {
      lastMs++
      counter = 0
    }
    const id = new Uint8Array(16)
    writeTime(id, lastMs)
    id[6] = 0x70 | (counter >>> 8)
    id[7] = counter
    id.set(pool.subarray(poolAt, poolAt + 8), 8)
    id[8] = 0x80 | (id[8]! & 0x3f)
    poolAt += 8
    return id
  }
}

/** @returns the time at which the id was created, in ms since the epoch */
export function idTime(id: Id): number {
  return bytesOf(id).readUIntBE(0, 6)
}

/** @returns a lower bound of all ids that are created at that time or later */
export function firstIdAt(ms: number): Id {
  const id = new Uint8Array(16)
  writeTime(id, Math.max(0, ms))
  return id
}

/**
 * @returns an upper bound of all ids created until then
 * @param at time in ms since the epoch
 */
export function lastIdAt(at: number): Id {
  const id = new Uint8Array(16).fill(0xff)
  writeTime(id, Math.max(0, Math.floor(at)))
  return id
}

/** @returns the greatest lower id, with which a range begins that excludes its lower bound */
export function idBefore(id: Id): Id {
  const before = Uint8Array.from(id)
  for (let i = before.length - 1; i >= 0 && before[i]!-- === 0; i--);
  return before
}

/** Buffer that every id is written to, so that its text is one flat string. */
const TEXT = Buffer.alloc(36, '-')
/** Offset of each byte of an id in the text. */
const BYTE_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const HEX_DIGITS = Buffer.from('0123456789abcdef')

/** Returns the hyphenated lower-case text form. */
export function idText(id: Id): string {
  for (let i = 0; i < BYTE_PLACES.length; i++) {
    const place = BYTE_PLACES[i]!
    TEXT[place] = HEX_DIGITS[id[i]! >> 4]!
    TEXT[place + 1] = HEX_DIGITS[id[i]! & 15]!
  }
  return TEXT.toString('latin1')
}

/** @returns the id as API clients see it */
export function wireId(prefix: IdPrefix, id: Id): string {
  return `${prefix}_${idText(id)}`
}

/**
 * Reads `<prefix>_<uuid>` or a bare UUID.
 * @returns undefined for any other text, including an id with another prefix
 */
export function parseWireId(prefix: IdPrefix, text: string): Id | undefined {
  const uuid = text.startsWith(`${prefix}_`) ? text.slice(prefix.length + 1) : text
  if (!UUID.test(uuid)) return undefined
  return new Uint8Array(Buffer.from(uuid.replaceAll('-', ''), 'hex'))
}

/** Reads an id with any prefix of an id, or a bare UUID. */
export function parseAnyId(text: string): Id | undefined {
  const prefix = /^([a-z]{2,3})_/.exec(text)?.[1]
  return parseWireId((prefix ?? '') as IdPrefix, text)
}

/**
 * Returns a compact string for Map keys, one character per byte. The bytes are written out, because several
 * keys are made for every message.
 */
export function idKey(id: Id): string {
  return String.fromCharCode(
    id[0]!,
    id[1]!,
    id[2]!,
    id[3]!,
    id[4]!,
    id[5]!,
    id[6]!,
    id[7]!,
    id[8]!,
    id[9]!,
    id[10]!,
    id[11]!,
    id[12]!,
    id[13]!,
    id[14]!,
    id[15]!,
  )
}

export function sameId(a: Id, b: Id): boolean {
  return bytesOf(a).equals(b)
}

/** @param ms integer of at most 48 bits */
function writeTime(id: Id, ms: number) {
  const high = Math.floor(ms / 0x1_0000_0000)
  id[0] = high >>> 8
  id[1] = high
  id[2] = ms >>> 24
  id[3] = ms >>> 16
  id[4] = ms >>> 8
  id[5] = ms
}

function bytesOf(id: Id): Buffer {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength)
}
