/**
 * Request as the HTTP servers of this folder receive it. Its body is handed on once for each read of the
 * connection, however many chunks the read contained.
 */
import { IncomingMessage } from 'node:http'
import { areCrumbs } from '../../../lib/crumbs.ts'
import { JoinedBytes } from '../../../lib/joined-bytes.ts'

export class ReceivedRequest extends IncomingMessage {
  /** Bytes of the body that have been received, without their framing. */
  contentBytes = 0
  /** Pieces in which the parser returned them. */
  pieceCount = 0
  /** The only piece since the last read; most reads contain one. */
  #piece: Buffer | undefined
  /** Further pieces, with the first. */
  #pieces: JoinedBytes | undefined

  /** Tells whether the body arrives in absurdly small pieces. */
  get isInCrumbs(): boolean {
    return areCrumbs(this.pieceCount, this.contentBytes)
  }

  /**
   * The parser of the runtime calls this for each piece of the body, and with null at its end. A body in
   * crumbs has no end, because its connection is refused.
   */
  override push(piece: Buffer | null): boolean {
    if (piece === null) {
      this.handOn()
      return !this.isInCrumbs && super.push(null)
    }
    this.contentBytes += piece.length
    this.pieceCount++
    this.#gather(piece)
    return true
  }

  /** Hands on what has been gathered. Must be called when the parser has returned. */
  handOn(): void {
    const bytes = this.#pieces?.length ? this.#pieces.take() : this.#piece
    if (!bytes) return
    this.#piece = undefined
    const isWanted = super.push(bytes)
    if (!isWanted) this.socket.pause()
  }

  #gather(piece: Buffer): void {
    if (this.#piece === undefined) {
      this.#piece = piece
      return
    }
    this.#pieces ??= new JoinedBytes()
    if (this.#pieces.length === 0) this.#pieces.add(this.#piece)
    this.#pieces.add(piece)
  }
}
