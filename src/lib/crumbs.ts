/**
 * Recognizes input that arrives in absurdly small pieces. A limit in bytes does not limit its cost, because
 * each piece costs an event and memory that are many times its size.
 */

/** Pieces of any size that are accepted, so that short input may arrive byte by byte. */
const FREE_PIECES = 1_000
/** Average size that more pieces than that must have. TCP segments have 536 bytes or more. */
const PIECE_BYTES_MIN = 64

/** Tells whether so many pieces are absurdly small. */
export function areCrumbs(pieceCount: number, bytes: number): boolean {
  return pieceCount > FREE_PIECES && bytes < pieceCount * PIECE_BYTES_MIN
}
