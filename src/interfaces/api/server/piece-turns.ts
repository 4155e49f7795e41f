/**
 * Limits how many chunks of request bodies are parsed in one turn of the event loop, over all connections of
 * a listener. A chunk of one byte costs about a microsecond; thousands of connections that send such chunks
 * at once would otherwise delay every other client for seconds before they are refused. Client networks take
 * turns, so that a chunked body of another client does not wait behind all of them.
 */
import { RoundRobin } from '../../../lib/round-robin.ts'

const PIECES_PER_TURN = 2_000
/**
 * Connections that go on in a turn. Six with chunks of one byte use up its pieces, and each further one would
 * be resumed and paused again in every turn for nothing.
 */
const CONNECTIONS_PER_TURN = 6

export class PieceTurns {
  #pieceCount = 0
  readonly #waiting = new RoundRobin<() => void>()
  #isScheduled = false

  /** Tells whether further chunks must wait for the next turn. */
  get isOver(): boolean {
    return this.#pieceCount >= PIECES_PER_TURN
  }

  /** Counts chunks that were parsed. */
  spend(pieceCount: number): void {
    this.#pieceCount += pieceCount
    this.#schedule()
  }

  /**
   * Calls the function in a later turn.
   * @param network client network of the connection
   */
  wait(network: string, goOn: () => void): void {
    this.#waiting.add(network, goOn)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#begin())
  }

  #begin(): void {
    this.#isScheduled = false
    this.#pieceCount = 0
    for (let count = 0; count < CONNECTIONS_PER_TURN; count++) this.#waiting.take()?.()
    if (this.#waiting.size > 0) this.#schedule()
  }
}
