/**
 * Runs expensive synchronous work of many owners in turns: one piece of work per turn of the event loop, and
 * owners share the time by the size of their work, small work first (`fair-queue.ts`).
 */
import { FairQueue } from './fair-queue.ts'

export class FairTurns {
  readonly #queue = new FairQueue<() => void>()
  #isRunning = false

  /**
   * @param cost in any unit that is the same for all owners, such as bytes
   * @throws what the work throws
   */
  run<T>(owner: string, cost: number, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.add(owner, cost, () => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
      if (!this.#isRunning) setImmediate(this.#next)
      this.#isRunning = true
    })
  }

  readonly #next = () => {
    this.#queue.take(() => true)?.()
    this.#isRunning = this.#queue.size > 0
    if (this.#isRunning) setImmediate(this.#next)
  }
}
