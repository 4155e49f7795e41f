/**
 * Decodes content transfer encodings in pieces of a few kilobytes with lookup tables, in linear time and
 * constant memory. A regular expression over a body of many megabytes exhausts the heap inside a builtin of
 * V8, which ends the process and not only the thread.
 */

/** Undoes one encoding of one body. It keeps what a piece leaves unfinished until the next one. */
export interface OctetDecoder {
  /** Octets that `write` writes at most for a piece of so many octets, and `end` for none. */
  mostOctets(pieceOctets: number): number
  /**
   * @param out has room for `mostOctets` behind `at`, and shares no memory with `piece`
   * @returns the position behind what was written
   */
  write(piece: Uint8Array, out: Uint8Array, at: number): number
  /** Writes what the last piece has left. */
  end(out: Uint8Array, at: number): number
}

const PIECE_OCTETS = 16 * 1024

/**
 * Calls `take` with each piece of the decoded body, whose memory is used again for the next one; it returns
 * false when it has enough.
 */
export function decodeInPieces(
  decoder: OctetDecoder,
  encoded: Uint8Array,
  take: (decoded: Buffer) => boolean,
): void {
  const out = Buffer.allocUnsafe(decoder.mostOctets(Math.min(PIECE_OCTETS, encoded.length)))
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
 * @param mostOctets limit of the result, and the memory that is allocated for it
 */
export function decodeOctets(decoder: OctetDecoder, encoded: Uint8Array, mostOctets: number): Buffer {
  const decoded = Buffer.allocUnsafe(mostOctets)
  let size = 0
  decodeInPieces(decoder, encoded, piece => {
    size += piece.copy(decoded, size)
    return size < mostOctets
  })
  return decoded.subarray(0, size)
}
