/**
 * Set of items in progress, each with a number that is reused after the item is taken out. Iteration has no
 * particular order.
 *
 * A Set or Map through which many entries pass costs more than it seems: its table is replaced by a new one
 * as it fills, and each old table refers to the next. Once one of them is in the old generation, all later
 * tables and their entries survive until a full garbage collection (decision 0077).
 */
export class Slab<T extends object> implements Iterable<T> {
  readonly #members: (T | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#members.length - this.#free.length
  }

  /** @returns the number of the item, until the item is taken out */
  put(member: T): number {
    const number = this.#free.pop() ?? this.#members.length
    this.#members[number] = member
    return number
  }

  /** @returns the item with this number */
  at(number: number): T | undefined {
    return this.#members[number]
  }

  /** Removes and returns the item with this number; undefined when there is none. */
  take(number: number): T | undefined {
    const member = this.#members[number]
    if (member === undefined) return undefined
    this.#members[number] = undefined
    this.#free.push(number)
    return member
  }

  drop(number: number): void {
    this.take(number)
  }

  takeAll(): T[] {
    const members = [...this]
    this.#members.length = 0
    this.#free.length = 0
    return members
  }

  *[Symbol.iterator](): Generator<T> {
    for (const member of this.#members) if (member !== undefined) yield member
  }
}
