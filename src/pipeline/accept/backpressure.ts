/**
 * How much of what is to be accepted is with the writer at once. More waits here, where it has not been
 * copied yet; still more is told to come back, so that a burst costs time and not memory.
 */
import { createFairSemaphore } from '../../lib/fair-semaphore.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import { StorageUnavailable } from '../../store/command.ts'

/** By weight, as the writer weighs: some groups of it, of which one account gets half. */
const WEIGHT_MAX = 4_000
const ACCOUNT_WEIGHT_MAX = WEIGHT_MAX / 2
/** Requests. */
const WAITING_REQUESTS_MAX = { most: 400, mostOfAnOwner: 200 }

/** @throws StorageUnavailable when too many wait, and what the work throws */
type Backpressure = <T>(account: string, weight: number, work: () => Promise<T>) => Promise<T>

export function createBackpressure(): Backpressure {
  const room = createFairSemaphore(WEIGHT_MAX, ACCOUNT_WEIGHT_MAX, WAITING_REQUESTS_MAX)
  return async (account, weight, work) => {
    const leave = await room.take(account, Math.min(weight, ACCOUNT_WEIGHT_MAX)).catch(error => {
      throw error instanceof TooManyWaiting ? new StorageUnavailable('too much waits for the writer') : error
    })
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
