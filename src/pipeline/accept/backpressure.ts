/**
 * Limits the amount of mail that the writer has been given and has not stored yet. Further requests wait
 * here, before they are copied to the writer; when too many wait, requests are refused. A burst costs time
 * and not memory.
 */
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import { StorageUnavailable } from '../../store/model/command.ts'

/** In the weights of `weightOf()`. This is several group commits of the writer; one account gets half. */
const WEIGHT_MAX = 4_000
const ACCOUNT_WEIGHT_MAX = WEIGHT_MAX / 2
/** Number of waiting requests, in total and of one account. */
const WAITING_REQUESTS_MAX = { most: 400, maxPerOwner: 200 }

/** @throws StorageUnavailable when too many wait, and what the work throws */
type Backpressure = <T>(account: string, weight: number, work: () => Promise<T>) => Promise<T>

export function createBackpressure(): Backpressure {
  const room = new FairSemaphore(WEIGHT_MAX, ACCOUNT_WEIGHT_MAX, WAITING_REQUESTS_MAX)
  return (account, weight, work) =>
    room.run(account, work, Math.min(weight, ACCOUNT_WEIGHT_MAX)).catch(error => {
      throw error instanceof TooManyWaiting ? new StorageUnavailable('too much waits for the writer') : error
    })
}
