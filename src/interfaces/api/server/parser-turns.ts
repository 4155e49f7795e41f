/**
 * Limits how much the HTTP parser and TLS do in one turn of the event loop, over all connections of a
 * listener. A request costs some tenths of a millisecond, a chunk of one byte about a microsecond, and a
 * handshake one or two milliseconds; thousands of connections that send either at once would otherwise delay
 * every other client for seconds. What is over the limit is done in later turns, in which client networks
 * take turns: a client of another network does not wait behind all of them.
 */
import { RoundRobin } from '../../../lib/round-robin.ts'

/** Kept low, because the runtime accepts one connection in a turn and hundreds may wait to be accepted. */
const PIECES_PER_TURN = 400
/** A request counts as so many pieces, so that at most a hundred begin in a turn. */
export const REQUEST_PIECES = 4
/**
 * A connection that begins to be read counts as so many pieces, because its request follows in the next turn.
 */
export const UNREAD_PIECES = 100
/** A TLS handshake counts as so many pieces, because its signature and key exchange are costly. */
export const HANDSHAKE_PIECES = 100
/**
 * When so many turns in a row have accepted a connection, more are probably waiting. Then they come first,
 * and only one turn in so many parses what waits.
 */
const CROWD_ACCEPTS = 32

export class ParserTurns {
  /** Number of the present turn. */
  number = 0
  #pieceCount = 0
  readonly #waiting = new RoundRobin<() => void>()
  #isScheduled = false
  /** Whether the present turn has accepted a connection. */
  #hasAccepted = false
  /** Number of turns in a row that have accepted a connection. */
  #acceptCount = 0

  /** Tells whether what arrives must wait for a later turn. */
  get isOver(): boolean {
    return this.#pieceCount >= PIECES_PER_TURN
  }

  /** Must be called for each accepted connection. */
  accept(): void {
    this.#hasAccepted = true
    this.#schedule()
  }

  /** Counts pieces that were parsed. */
  spend(pieceCount: number): void {
    this.#pieceCount += pieceCount
    this.#schedule()
  }

  /**
   * Calls the function in a later turn.
   * @param network client network of the connection
   * @param hasBegun whether a request has begun, so that it comes before those of the network that have not
   * @param goOn must parse what has been read, or start reading, and count the pieces of it
   */
  wait(network: string, hasBegun: boolean, goOn: () => void): void {
    if (hasBegun) this.#waiting.addFirst(network, goOn)
    else this.#waiting.add(network, goOn)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#begin())
  }

  #begin(): void {
    this.#isScheduled = false
    this.number++
    this.#acceptCount = this.#hasAccepted ? this.#acceptCount + 1 : 0
    this.#hasAccepted = false
    const mustAccept = this.#acceptCount >= CROWD_ACCEPTS && this.#acceptCount % CROWD_ACCEPTS !== 0
    this.#pieceCount = mustAccept ? PIECES_PER_TURN : 0
    while (!this.isOver) {
      const goOn = this.#waiting.take()
      if (!goOn) return
      goOn()
    }
    this.#schedule()
  }
}
