/** Identifiers: UUIDv7 as 16 bytes inside, `<prefix>_<hyphenated uuid>` on the wire. */
import { randomFillSync } from 'node:crypto'

/** 16 bytes of a UUIDv7 (RFC 9562 §5.7). Ids made by one process sort in the order of their making. */
export type Id = Uint8Array

export type IdPrefix =
  | 'acc'
  | 'usr'
  | 'ses'
  | 'key'
  | 'dom'
  | 'aud'
  | 'con'
  | 'imp'
  | 'seg'
  | 'top'
  | 'brd'
  | 'eml'
  | 'tpl'
  | 'wh'
  | 'whd'
  | 'sup'
  | 'inb'
  | 'evt'
  | 'att'
  | 'shr'
  | 'hld'
  | 'prp'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const COUNTER_MAX = 0xfff

export type IdSource = (nowMs: number) => Id

/** A source of ids. Within one millisecond, or when the clock steps back, a counter keeps them ascending. */
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

/** Epoch ms at which the id was made. */
export function idTime(id: Id): number {
  return bytesOf(id).readUIntBE(0, 6)
}

/** No id made at that time or later sorts before it. */
export function firstIdAt(ms: number): Id {
  const id = new Uint8Array(16)
  writeTime(id, Math.max(0, ms))
  return id
}

/** No id that was made by then is greater. @param at epoch ms */
export function lastIdAt(at: number): Id {
  const id = new Uint8Array(16).fill(0xff)
  writeTime(id, Math.max(0, Math.floor(at)))
  return id
}

/** Written anew for each, so that a text is one piece from the start. */
const TEXT = Buffer.alloc(36, '-')
/** Where each byte of an id stands in it. */
const BYTE_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const HEX_DIGITS = Buffer.from('0123456789abcdef')

/** The hyphenated lower-case text form. */
export function idText(id: Id): string {
  for (let i = 0; i < BYTE_PLACES.length; i++) {
    const place = BYTE_PLACES[i]!
    TEXT[place] = HEX_DIGITS[id[i]! >> 4]!
    TEXT[place + 1] = HEX_DIGITS[id[i]! & 15]!
  }
  return TEXT.toString('latin1')
}

/** The form that API clients see. */
export function wireId(prefix: IdPrefix, id: Id): string {
  return `${prefix}_${idText(id)}`
}

/** Reads `<prefix>_<uuid>` or a bare UUID; undefined for anything else, a foreign prefix included. */
export function parseWireId(prefix: IdPrefix, text: string): Id | undefined {
  const uuid = text.startsWith(`${prefix}_`) ? text.slice(prefix.length + 1) : text
  if (!UUID.test(uuid)) return undefined
  return new Uint8Array(Buffer.from(uuid.replaceAll('-', ''), 'hex'))
}

/** A compact string for Map keys, a character a byte; spelt out, since many are made for every message. */
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

/** @param ms a whole number of at most 48 bits */
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
