/**
 * Waiting items of many owners: owners take turns, and the items of each owner come in order. Every operation
 * takes constant time, however many items wait.
 */

/** Items of one owner, oldest first; those before `at` have been taken. */
interface Queue<T> {
  items: T[]
  at: number
}

/** Number of taken items that an array keeps at most, so that cutting them off is rare. */
const TAKEN_MAX = 1_000

export class RoundRobin<T> {
  /** The owner whose turn it is comes first. */
  readonly #waiting = new Map<string, Queue<T>>()
  #size = 0

  /** Number of waiting items. */
  get size(): number {
    return this.#size
  }

  /** Number of owners with waiting items. */
  get ownerCount(): number {
    return this.#waiting.size
  }

  /** Returns the number of waiting items of an owner. */
  countOf(owner: string): number {
    const queue = this.#waiting.get(owner)
    return queue ? queue.items.length - queue.at : 0
  }

  add(owner: string, item: T): void {
    const queue = this.#waiting.get(owner)
    if (queue) queue.items.push(item)
    else this.#waiting.set(owner, { items: [item], at: 0 })
    this.#size++
  }

  /**
   * Adds an item before the others of its owner, which keeps its place among the owners. Takes constant time
   * if an item of the owner has been taken.
   */
  addFirst(owner: string, item: T): void {
    const queue = this.#waiting.get(owner)
    if (!queue) {
      this.add(owner, item)
      return
    }
    if (queue.at > 0) queue.items[--queue.at] = item
    else queue.items.unshift(item)
    this.#size++
  }

  /** Removes and returns the next item; undefined if none waits. */
  take(): T | undefined {
    const [first] = this.#waiting
    if (!first) return undefined
    const [owner, queue] = first
    const item = queue.items[queue.at++]!
    this.#size--
    this.#waiting.delete(owner)
    if (queue.at === TAKEN_MAX) {
      queue.items = queue.items.slice(queue.at)
      queue.at = 0
    }
    if (queue.at < queue.items.length) this.#waiting.set(owner, queue)
    return item
  }
}
