/** Repeats work while the store is unavailable. Called by the delivery runner and the result recorders. */
import { type Clock, sleep } from '../../lib/clock.ts'
import { StorageUnavailable } from './command.ts'

const RETRY_MS = 1_000

/**
 * Runs the work, and again every second while the store is unavailable.
 * @param mayRetry is called after each failure
 * @param stopping ends a wait
 * @throws StorageUnavailable when no retry may follow, what the work throws, and the reason of `stopping`
 */
export async function whileUnavailable<T>(
  clock: Clock,
  work: () => Promise<T>,
  mayRetry: () => boolean,
  stopping?: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || !mayRetry()) throw error
    }
    await sleep(clock, RETRY_MS, stopping)
  }
}
