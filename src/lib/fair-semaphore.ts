/**
 * Semaphore with a limit per owner: no owner gets more than its share, and waiting owners are served in turn.
 */
import { TooManyWaiting } from './semaphore.ts'

/** Limits of waiting callers. A caller beyond a limit is rejected. */
interface WaitingLimits {
  maxPerOwner?: number
  max?: number
}

interface Waiting {
  owner: string
  amount: number
  enter(leave: () => void): void
}

export class FairSemaphore {
  readonly #max: number
  readonly #maxPerOwner: number
  readonly #maxWaiting: number
  readonly #maxWaitingPerOwner: number
  readonly #held = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #taken = 0

  constructor(max: number, maxPerOwner: number, waitingLimits: WaitingLimits = {}) {
    this.#max = max
    this.#maxPerOwner = maxPerOwner
    this.#maxWaiting = waitingLimits.max ?? Number.POSITIVE_INFINITY
    this.#maxWaitingPerOwner = waitingLimits.maxPerOwner ?? Number.POSITIVE_INFINITY
  }

  /** Sum of what all owners hold. */
  get taken(): number {
    return this.#taken
  }

  get waitingCount(): number {
    return this.#waiting.length
  }

  /**
   * Runs the task while the owner holds this amount.
   * @throws TooManyWaiting, and what the task throws
   */
  async run<T>(owner: string, task: () => Promise<T>, amount = 1): Promise<T> {
    const leave = await this.take(owner, amount)
    try {
      return await task()
    } finally {
      leave()
    }
  }

  /**
   * Waits until the owner may hold this amount.
   * @param signal ends the wait
   * @param isFirst whether it comes before all that wait, since the caller holds a part already
   * @returns a function that gives the amount back
   * @throws TooManyWaiting; the reason of the signal
   */
  take(owner: string, amount = 1, signal?: AbortSignal, isFirst = false): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const entry: Waiting = { owner, amount, enter: resolve }
      if (isFirst) this.#waiting.unshift(entry)
      else this.#waiting.push(entry)
      this.#letIn()
      const ownCount = this.#waiting.filter(one => one.owner === owner).length
      if (!this.#waiting.includes(entry)) return
      const giveUp = (reason: unknown) => {
        const index = this.#waiting.indexOf(entry)
        if (index < 0) return
        this.#waiting.splice(index, 1)
        reject(reason)
        this.#letIn() // a smaller amount may have waited behind this one
      }
      if (this.#waiting.length > this.#maxWaiting || ownCount > this.#maxWaitingPerOwner)
        return giveUp(new TooManyWaiting('too many are waiting'))
      signal?.addEventListener('abort', () => giveUp(signal.reason), { once: true })
    })
  }

  /**
   * Admits waiting callers. A caller that needs a large amount is not overtaken by callers that need less.
   */
  #letIn(): void {
    for (let next = this.#nextIndex(); next >= 0; next = this.#nextIndex()) {
      if (this.#taken + this.#waiting[next]!.amount > this.#max) return
      const [admitted] = this.#waiting.splice(next, 1) as [Waiting]
      admitted.enter(this.#hold(admitted))
    }
  }

  /**
   * Index of the first waiting caller whose owner has not used up its share. Callers of one owner are served
   * in order.
   */
  #nextIndex(): number {
    const blocked = new Set<string>()
    return this.#waiting.findIndex(({ owner, amount }) => {
      if (!blocked.has(owner) && this.#heldBy(owner) + amount <= this.#maxPerOwner) return true
      blocked.add(owner)
      return false
    })
  }

  /** @returns a function that gives the amount back */
  #hold({ owner, amount }: Waiting): () => void {
    this.#taken += amount
    this.#held.set(owner, this.#heldBy(owner) + amount)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#taken -= amount
      if (this.#heldBy(owner) === amount) this.#held.delete(owner)
      else this.#held.set(owner, this.#heldBy(owner) - amount)
      this.#letIn()
    }
  }

  #heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0
  }
}
