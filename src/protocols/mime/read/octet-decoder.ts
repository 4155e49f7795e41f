/**
 * Decodes content transfer encodings in pieces of a few kilobytes with lookup tables, in linear time and
 * constant memory. A regular expression over a body of many megabytes exhausts the heap inside a builtin of
 * V8, which ends the process and not only the thread.
 */

/** Decodes one body. Octets that are incomplete at the end of a piece are kept until the next piece. */
export interface OctetDecoder {
  /**
   * Returns the limit of the octets that `write` writes for a piece of that size, and `end` for a size of 0.
   */
  maxOctets(pieceOctets: number): number
  /**
   * @param out has room for `maxOctets` behind `at`, and shares no memory with `piece`
   * @returns the position behind what was written
   */
  write(piece: Uint8Array, out: Uint8Array, at: number): number
  /** Writes the rest of the last piece. */
  end(out: Uint8Array, at: number): number
}

const PIECE_OCTETS = 16 * 1024

/**
 * Calls `take` with each piece of the decoded body. The memory of a piece is reused for the next one.
 * Decoding stops when `take` returns false.
 */
export function decodeInPieces(
  decoder: OctetDecoder,
  encoded: Uint8Array,
  take: (decoded: Buffer) => boolean,
): void {
  const out = Buffer.allocUnsafe(decoder.maxOctets(Math.min(PIECE_OCTETS, encoded.length)))
  for (let at = 0; at < encoded.length; at += PIECE_OCTETS) {
    const end = decoder.write(encoded.subarray(at, at + PIECE_OCTETS), out, 0)
    if (end > 0 && !take(out.subarray(0, end))) return
  }
  const end = decoder.end(out, 0)
  if (end > 0) take(out.subarray(0, end))
}

/**
 * Decodes the first octets of a body.
 *
 * @param maxOctets limit of the result, and the memory that is allocated for it
 */
export function decodeOctets(decoder: OctetDecoder, encoded: Uint8Array, maxOctets: number): Buffer {
  const decoded = Buffer.allocUnsafe(maxOctets)
  let size = 0
  decodeInPieces(decoder, encoded, piece => {
    size += piece.copy(decoded, size)
    return size < maxOctets
  })
  return decoded.subarray(0, size)
}
