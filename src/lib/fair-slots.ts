/** A bounded number of places, of which no single owner gets more than a share; whoever waits gets one in turn. */
import { TooManyWaiting } from './semaphore.ts'

export interface FairSlots {
  /** Resolves with what gives the place back, once the owner has one. @throws TooManyWaiting */
  take(owner: string): Promise<() => void>
}

interface Waiting {
  owner: string
  enter(leave: () => void): void
}

export function createFairSlots(
  most: number,
  mostOfAnOwner: number,
  mostWaitingOfAnOwner = Number.POSITIVE_INFINITY,
): FairSlots {
  const held = new Map<string, number>()
  const waiting: Waiting[] = []
  let taken = 0

  const heldBy = (owner: string) => held.get(owner) ?? 0
  const enter = (owner: string): (() => void) => {
    taken++
    held.set(owner, heldBy(owner) + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      taken--
      if (heldBy(owner) === 1) held.delete(owner)
      else held.set(owner, heldBy(owner) - 1)
      letIn()
    }
  }
  const letIn = () => {
    while (taken < most) {
      const next = waiting.findIndex(({ owner }) => heldBy(owner) < mostOfAnOwner)
      if (next < 0) return
      const [{ owner, enter: admit }] = waiting.splice(next, 1) as [Waiting]
      admit(enter(owner))
    }
  }

  return {
    take: owner =>
      new Promise((resolve, reject) => {
        const isFull = taken >= most || heldBy(owner) >= mostOfAnOwner
        if (isFull && waiting.filter(one => one.owner === owner).length >= mostWaitingOfAnOwner)
          return reject(new TooManyWaiting(`more than ${mostWaitingOfAnOwner} are waiting`))
        waiting.push({ owner, enter: resolve })
        letIn()
      }),
  }
}
