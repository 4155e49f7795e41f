/**
 * Semaphore with a limit per owner: no owner gets more than its share, and waiting owners are served in turn.
 */
import { TooManyWaiting } from './semaphore.ts'

export interface FairSemaphore {
  /**
   * Waits until the owner may hold this amount.
   * @returns a function that gives the amount back
   * @throws TooManyWaiting
   */
  take(owner: string, amount?: number): Promise<() => void>
  /**
   * Runs the task while the owner holds this amount.
   * @throws TooManyWaiting, and what the task throws
   */
  run<T>(owner: string, task: () => Promise<T>, amount?: number): Promise<T>
}

/** Limits of waiting callers. A caller beyond a limit is rejected. */
interface WaitingLimits {
  maxPerOwner?: number
  most?: number
}

interface Waiting {
  owner: string
  amount: number
  enter(leave: () => void): void
}

export function createFairSemaphore(
  most: number,
  maxPerOwner: number,
  waitingLimits: WaitingLimits = {},
): FairSemaphore {
  const maxWaitingPerOwner = waitingLimits.maxPerOwner ?? Number.POSITIVE_INFINITY
  const maxWaiting = waitingLimits.most ?? Number.POSITIVE_INFINITY
  const held = new Map<string, number>()
  const waiting: Waiting[] = []
  let taken = 0

  const heldBy = (owner: string) => held.get(owner) ?? 0
  const enter = ({ owner, amount }: Waiting): (() => void) => {
    taken += amount
    held.set(owner, heldBy(owner) + amount)
    let left = false
    return () => {
      if (left) return
      left = true
      taken -= amount
      if (heldBy(owner) === amount) held.delete(owner)
      else held.set(owner, heldBy(owner) - amount)
      letIn()
    }
  }
  /**
   * Index of the first waiting caller whose owner has not used up its share. Callers of one owner are served
   * in order.
   */
  const nextIndex = () => {
    const blocked = new Set<string>()
    return waiting.findIndex(({ owner, amount }) => {
      if (!blocked.has(owner) && heldBy(owner) + amount <= maxPerOwner) return true
      blocked.add(owner)
      return false
    })
  }
  /**
   * Admits waiting callers. A caller that needs a large amount is not overtaken by callers that need less.
   */
  const letIn = () => {
    for (let next = nextIndex(); next >= 0; next = nextIndex()) {
      if (taken + waiting[next]!.amount > most) return
      const [admitted] = waiting.splice(next, 1) as [Waiting]
      admitted.enter(enter(admitted))
    }
  }

  const take: FairSemaphore['take'] = (owner, amount = 1) =>
    new Promise((resolve, reject) => {
      const asked: Waiting = { owner, amount, enter: resolve }
      waiting.push(asked)
      letIn()
      const ownCount = waiting.filter(one => one.owner === owner).length
      if (!waiting.includes(asked)) return
      if (waiting.length <= maxWaiting && ownCount <= maxWaitingPerOwner) return
      waiting.splice(waiting.indexOf(asked), 1)
      reject(new TooManyWaiting('too many are waiting'))
    })
  return {
    take,
    async run(owner, task, amount) {
      const leave = await take(owner, amount)
      try {
        return await task()
      } finally {
        leave()
      }
    },
  }
}
