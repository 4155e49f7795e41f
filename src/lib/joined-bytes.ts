/**
 * Collects bytes in one buffer. Each piece is copied, so that a thousand pieces of one byte cost as little
 * memory as one piece of a thousand bytes, and each byte is copied a constant number of times.
 */

const FIRST_BYTES = 512

export class JoinedBytes {
  #bytes: Buffer | undefined
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    if (piece.length === 0) return
    const length = this.#length + piece.length
    if (!this.#bytes || length > this.#bytes.length) this.#grow(length)
    this.#bytes!.set(piece, this.#length)
    this.#length = length
  }

  /** The bytes so far. They change with the next call of `add`, and do not after `take`. */
  view(): Buffer {
    return this.#bytes?.subarray(0, this.#length) ?? Buffer.alloc(0)
  }

  /** Returns the bytes and begins anew. */
  take(): Buffer {
    const bytes = this.view()
    this.#bytes = undefined
    this.#length = 0
    return bytes
  }

  #grow(length: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(FIRST_BYTES, length, 2 * (this.#bytes?.length ?? 0)))
    bytes.set(this.view())
    this.#bytes = bytes
  }
}
