/**
 * What is under way, each under a number that is given to another when it is taken out; in no particular
 * order.
 *
 * A Set or Map through which much passes costs more than it seems to: one that has been outgrown leads to the
 * next, so that as soon as one of them is old, all that follow, and what was in them, outlive their time
 * until the whole heap is collected.
 */
export class Slab<T extends object> implements Iterable<T> {
  readonly #members: (T | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#members.length - this.#free.length
  }

  /** @returns its number, until it is taken out */
  put(member: T): number {
    const number = this.#free.pop() ?? this.#members.length
    this.#members[number] = member
    return number
  }

  /** What has this number. */
  at(number: number): T | undefined {
    return this.#members[number]
  }

  /** Takes out what has this number; undefined where nothing has. */
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
