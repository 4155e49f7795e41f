/**
 * Datagrams that wait to be answered, in turns between client networks. The more networks wait, the fewer
 * datagrams of each: one network that floods the listener has all the room to itself, a hundred have a
 * hundredth each, and a network that asks little is not dropped. Nothing of a dropped datagram is decoded.
 */

/** Datagrams of one network, oldest first; those before `at` have been taken. */
interface Queue<T> {
  datagrams: T[]
  at: number
}

/** With `n` networks that have filled their shares one after the other, `ln n` times the room is in use. */
const ROOMS_MAX = 10

export class FairDatagrams<T> {
  readonly #room: number
  /** The network whose turn it is comes first. */
  readonly #waiting = new Map<string, Queue<T>>()
  #count = 0

  /** @param room number of datagrams of a single network that may wait */
  constructor(room: number) {
    this.#room = room
  }

  get size(): number {
    return this.#count
  }

  /**
   * @param network from `clientNetworkOf`
   * @returns false if there is no room for it
   */
  add(network: string, datagram: T): boolean {
    const queue = this.#waiting.get(network)
    const ownCount = queue ? queue.datagrams.length - queue.at : 0
    const share = this.#room / Math.max(1, this.#waiting.size)
    if ((queue && ownCount >= share) || this.#count >= ROOMS_MAX * this.#room) return false
    if (queue) queue.datagrams.push(datagram)
    else this.#waiting.set(network, { datagrams: [datagram], at: 0 })
    this.#count += 1
    return true
  }

  next(): T | undefined {
    const [first] = this.#waiting
    if (!first) return undefined
    const [network, queue] = first
    const datagram = queue.datagrams[queue.at++]!
    this.#count -= 1
    this.#waiting.delete(network)
    if (queue.at === this.#room) {
      queue.datagrams = queue.datagrams.slice(queue.at)
      queue.at = 0
    }
    if (queue.at < queue.datagrams.length) this.#waiting.set(network, queue)
    return datagram
  }
}
