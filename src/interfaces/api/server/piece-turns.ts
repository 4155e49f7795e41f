/**
 * Limits how many chunks of request bodies are parsed in one turn of the event loop, over all connections of
 * a listener. A chunk of one byte costs about a microsecond; thousands of connections that send such chunks
 * at once would otherwise delay every other client for seconds before they are refused.
 */

const PIECES_PER_TURN = 2_000

export class PieceTurns {
  #pieceCount = 0
  #waiting: (() => void)[] = []
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

  /** Calls the function in a later turn that has room. Those that wait longest come first. */
  wait(goOn: () => void): void {
    this.#waiting.push(goOn)
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
    const waiting = this.#waiting
    let begun = 0
    while (begun < waiting.length && !this.isOver) waiting[begun++]!()
    this.#waiting = waiting.slice(begun)
    if (this.#waiting.length > 0) this.#schedule()
  }
}
