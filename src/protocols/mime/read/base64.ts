/** Tolerant base64 decoder (RFC 2045 §6.8): invalid characters are skipped. */
import type { OctetDecoder } from './octet-decoder.ts'

const SKIPPED = -1
const PADDING = -2
/** Value of each character; -1 for other characters. */
export const BASE64_VALUES = new Int8Array(256).fill(SKIPPED)
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
for (let value = 0; value < ALPHABET.length; value++) BASE64_VALUES[ALPHABET.charCodeAt(value)] = value
const VALUES = Int8Array.from(BASE64_VALUES)
VALUES['='.charCodeAt(0)] = PADDING

/**
 * Base64 that was encoded in pieces and then joined has padding in the middle. A new group begins behind
 * padding.
 */
export function base64Decoder(): OctetDecoder {
  let bits = 0
  /** Number of characters in the current group. */
  let count = 0

  /** Writes the octets of an incomplete group; a single character holds none. */
  const endGroup = (out: Uint8Array, at: number): number => {
    let to = at
    if (count === 2) out[to++] = bits >> 4
    else if (count === 3) {
      out[to++] = bits >> 10
      out[to++] = (bits >> 2) & 0xff
    }
    count = 0
    bits = 0
    return to
  }
  return {
    maxOctets: octets => octets + 2,
    write(piece, out, at) {
      const end = piece.length
      let to = at
      for (let from = 0; from < end; ) {
        if (count === 0)
          for (; from + 3 < end; from += 4) {
            const group =
              (VALUES[piece[from]!]! << 18) |
              (VALUES[piece[from + 1]!]! << 12) |
              (VALUES[piece[from + 2]!]! << 6) |
              VALUES[piece[from + 3]!]!
            if (group < 0) break
            out[to++] = group >> 16
            out[to++] = (group >> 8) & 0xff
            out[to++] = group & 0xff
          }
        if (from === end) break
        const value = VALUES[piece[from++]!]!
        if (value >= 0) {
          bits = (bits << 6) | value
          if (++count < 4) continue
          out[to++] = bits >> 16
          out[to++] = (bits >> 8) & 0xff
          out[to++] = bits & 0xff
          count = 0
          bits = 0
        } else if (value === PADDING) to = endGroup(out, to)
      }
      return to
    },
    end: endGroup,
  }
}
