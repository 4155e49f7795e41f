/**
 * Records the results of attempts, and keeps each one until it is stored.
 *
 * In: a finished attempt, from the delivery runner. Out: the writer's command `finish`, repeated while the
 * store is unavailable.
 */
import { type Clock, sleep } from '../../lib/clock.ts'
import { Slab } from '../../lib/slab.ts'
import type { Run } from '../../store/model/command.ts'
import { whileUnavailable } from '../../store/model/while-unavailable.ts'
import type { Finish, queueCommands } from '../queue/commands.ts'

export interface Recorder {
  /** Resolves when the result is stored. @returns false when the lease was no longer valid */
  record(finish: Finish): Promise<boolean>
  /** Resolves when fewer results than the limit wait to be stored. */
  room(): Promise<void>
  /**
   * Resolves when all results are stored, or after the time has passed. @returns the number that is not
   * stored
   */
  drained(limitMs?: number): Promise<number>
}

/** Exit code of a thread that ends with results that are not stored. */
export const UNSTORED = 3
const UNSTORED_MAX = 256

/** @param stopping ends the retries; the leases of results that are not stored are void at the next start */
export function createRecorder(
  run: Run<Pick<typeof queueCommands, 'finish'>>,
  clock: Clock,
  stopping: AbortSignal,
): Recorder {
  /** Each promise resolves when its result is stored or given up. */
  const waiting = new Slab<Promise<void>>()

  return {
    record(finish) {
      const recording = whileUnavailable(
        clock,
        () => run('finish', finish),
        () => !stopping.aborted,
        stopping,
      )
      const settled = recording.then(
        () => waiting.drop(number),
        () => waiting.drop(number),
      )
      const number = waiting.put(settled)
      return recording
    },
    async room() {
      while (waiting.size >= UNSTORED_MAX) await Promise.race(waiting)
    },
    async drained(limitMs) {
      const all = Promise.all(waiting)
      const over = new AbortController()
      const patience = limitMs === undefined ? all : sleep(clock, limitMs, over.signal).catch(() => {})
      await Promise.race([all, patience])
      over.abort()
      return waiting.size
    },
  }
}
