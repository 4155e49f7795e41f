/**
 * Bounds the memory of large messages that are sent at the same time. The number of deliveries in progress
 * bounds that of small ones.
 */
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'

/** Smaller messages are not counted. */
const SMALL_BYTES = 1024 * 1024
const FREE = () => {}

export class LargeMessages {
  /** A destination that reads slowly leaves the other half to the others. */
  readonly #destinationBytesMax: number
  readonly #room: FairSemaphore

  /** @param maxBytes memory of all large messages that are sent at the same time */
  constructor(maxBytes: number) {
    this.#destinationBytesMax = Math.floor(maxBytes / 2)
    this.#room = new FairSemaphore(maxBytes, this.#destinationBytesMax)
  }

  /**
   * Waits until a message may be built. One that needs more than the share of its destination waits for all
   * of it.
   * @returns a function that must be called when the message is no longer needed
   */
  async enter(destination: string, memoryBytes: number): Promise<() => void> {
    if (memoryBytes < SMALL_BYTES) return FREE
    return this.#room.take(destination, Math.min(memoryBytes, this.#destinationBytesMax))
  }
}
