/**
 * How much of what is to be accepted is with the writer at once. More waits here, where it has not been copied yet;
 * still more is told to come back, so that a burst costs time and not memory.
 */
import { createFairSemaphore } from '../../lib/fair-semaphore.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import { StorageUnavailable } from '../../store/command.ts'

/** By weight, as the writer weighs: some groups of it, of which one account gets half. */
const MOST = 4_000
const MOST_OF_AN_ACCOUNT = MOST / 2
/** Requests. */
const WAITING = { most: 400, mostOfAnOwner: 200 }

/** @throws StorageUnavailable when too many wait, and what the work throws */
export type Backpressure = <T>(account: string, weight: number, work: () => Promise<T>) => Promise<T>

export function createBackpressure(): Backpressure {
  const room = createFairSemaphore(MOST, MOST_OF_AN_ACCOUNT, WAITING)
  return async (account, weight, work) => {
    const leave = await room.take(account, Math.min(weight, MOST_OF_AN_ACCOUNT)).catch(error => {
      throw error instanceof TooManyWaiting ? new StorageUnavailable('too much waits for the writer') : error
    })
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
