/** Bit sets of ordinals within an index block, and their stored form. */

/** Bit `n & 7` of byte `n >> 3` represents ordinal `n`. */
export type Bits = Uint8Array

const LIST = 0
const MAP = 1
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)

/** @param size number of ordinals */
export function noBits(size: number): Bits {
  return new Uint8Array((size + 7) >> 3)
}

export function setBit(bits: Bits, ordinal: number): void {
  bits[ordinal >> 3]! |= 1 << (ordinal & 7)
}

export function clearBit(bits: Bits, ordinal: number): void {
  bits[ordinal >> 3]! &= ~(1 << (ordinal & 7))
}

export function hasBit(bits: Bits, ordinal: number): boolean {
  return (bits[ordinal >> 3]! & (1 << (ordinal & 7))) !== 0
}

/** @returns the positions of a byte or, if `isWanted` is false, of all other bytes */
export function bitsWhere(bytes: Uint8Array, byte: number, isWanted: boolean): Bits {
  const bits = noBits(bytes.length)
  for (let at = 0; at < bits.length; at++) {
    let eight = 0
    for (let n = Math.min(8, bytes.length - at * 8); n-- > 0; )
      eight = (eight << 1) | (+(bytes[at * 8 + n] === byte) ^ +!isWanted)
    bits[at] = eight
  }
  return bits
}

/** Intersects `bits` with `others` in place. */
export function keepCommon(bits: Bits, others: Bits): void {
  for (let i = 0; i < bits.length; i++) bits[i]! &= others[i]!
}

/** Adds `others` to `bits` in place. */
export function addBits(bits: Bits, others: Bits): void {
  for (let i = 0; i < bits.length; i++) bits[i]! |= others[i]!
}

export function countBits(bits: Bits): number {
  let count = 0
  for (const byte of bits) count += ONES[byte]!
  return count
}

/** @returns ordinals in ascending order */
export function ordinalsIn(bits: Bits): number[] {
  const ordinals: number[] = []
  for (let at = 0; at < bits.length; at++)
    for (let byte = bits[at]!, n = at * 8; byte !== 0; byte >>= 1, n++) if (byte & 1) ordinals.push(n)
  return ordinals
}

/** Length of the stored form: one byte, and the shorter of two bytes per ordinal and the bit set. */
export function encodedLength(count: number, size: number): number {
  return 1 + Math.min(count * 2, (size + 7) >> 3)
}

/** @param to zeroed memory of the encoded length */
export function encodeOrdinals(ordinals: readonly number[], to: Uint8Array): void {
  const isList = to.length === 1 + ordinals.length * 2
  to[0] = isList ? LIST : MAP
  const rest = to.subarray(1)
  for (const [i, ordinal] of ordinals.entries())
    if (isList) {
      rest[i * 2] = ordinal & 255
      rest[i * 2 + 1] = ordinal >> 8
    } else setBit(rest, ordinal)
}

export function decodeOrdinals(stored: Uint8Array, size: number): Bits {
  if (stored[0] === MAP) return stored.subarray(1)
  const bits = noBits(size)
  for (let at = 1; at < stored.length; at += 2) setBit(bits, stored[at]! | (stored[at + 1]! << 8))
  return bits
}
