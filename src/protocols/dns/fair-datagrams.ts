/**
 * Datagrams that wait to be answered, in turns between client networks. The more networks wait, the fewer
 * datagrams of each: one network that floods the listener has all the room to itself, a hundred have a
 * hundredth each, and a network that asks little is not dropped. Nothing of a dropped datagram is decoded.
 */
import { RoundRobin } from '../../lib/round-robin.ts'

/** With `n` networks that have filled their shares one after the other, `ln n` times the room is in use. */
const ROOMS_MAX = 10

export class FairDatagrams<T> {
  readonly #room: number
  readonly #waiting = new RoundRobin<T>()

  /** @param room number of datagrams of a single network that may wait */
  constructor(room: number) {
    this.#room = room
  }

  get size(): number {
    return this.#waiting.size
  }

  /**
   * @param network from `clientNetworkOf`
   * @returns false if there is no room for it
   */
  add(network: string, datagram: T): boolean {
    const ownCount = this.#waiting.countOf(network)
    const share = this.#room / Math.max(1, this.#waiting.ownerCount)
    if ((ownCount > 0 && ownCount >= share) || this.size >= ROOMS_MAX * this.#room) return false
    this.#waiting.add(network, datagram)
    return true
  }

  next(): T | undefined {
    return this.#waiting.take()
  }
}
