/**
 * Weighted fair queueing of jobs: owners share capacity by the size of their jobs, and small jobs go first. A
 * small job never waits for another owner's large jobs that have not started.
 */

interface Waiting<T> {
  item: T
  /**
   * Virtual time, in units of cost, at which the job would start if all owners with jobs were served at once.
   */
  start: number
  /** Virtual time at which the job would end. The job with the earliest end is next. */
  finish: number
}

export class FairQueue<T> {
  readonly #waiting: Waiting<T>[] = []
  /** Virtual end of each owner's last job. The entries are dropped when no job waits. */
  readonly #lastFinish = new Map<string, number>()
  #now = 0

  get size(): number {
    return this.#waiting.length
  }

  /** @param cost in any unit, such as bytes; at least 1 */
  add(owner: string, cost: number, item: T): void {
    const start = Math.max(this.#now, this.#lastFinish.get(owner) ?? 0)
    const finish = start + Math.max(1, cost)
    this.#lastFinish.set(owner, finish)
    this.#waiting.push({ item, start, finish })
  }

  /** Removes and returns the next job that may start, or undefined when there is none. */
  take(mayBegin: (item: T) => boolean): T | undefined {
    let next = -1
    for (const [i, { item, finish }] of this.#waiting.entries())
      if ((next < 0 || finish < this.#waiting[next]!.finish) && mayBegin(item)) next = i
    if (next < 0) return undefined
    const [{ item, start }] = this.#waiting.splice(next, 1) as [Waiting<T>]
    this.#now = Math.max(this.#now, start)
    if (this.#waiting.length === 0) this.#lastFinish.clear()
    return item
  }
}
