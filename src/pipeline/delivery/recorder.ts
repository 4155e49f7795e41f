/** Hands the ends of attempts to the store, and keeps them until they are stored. */
import { type Clock, sleep } from '../../lib/clock.ts'
import { Slab } from '../../lib/slab.ts'
import { type Run, StorageUnavailable } from '../../store/command.ts'
import type { Finish, queueCommands } from '../queue/commands.ts'

export interface Recorder {
  /** Resolves when the attempt's end is stored: true, unless its lease was no longer good. */
  record(finish: Finish): Promise<boolean>
  /** Resolves when fewer ends than the limit wait to be stored. */
  room(): Promise<void>
  /** Resolves when nothing waits, or the time is over, with what waits then. */
  drained(limitMs?: number): Promise<number>
}

/** The exit code of a thread that knows what the store does not. */
export const UNSTORED = 3
const UNSTORED_MAX = 256
const RETRY_MS = 1_000

/** @param stopping ends the retries of what cannot be stored; the leases are void at the next start */
export function createRecorder(
  run: Run<Pick<typeof queueCommands, 'finish'>>,
  clock: Clock,
  stopping: AbortSignal,
): Recorder {
  /** Each resolves when its end is stored or given up. */
  const waiting = new Slab<Promise<void>>()

  const stored = async (finish: Finish): Promise<boolean> => {
    for (;;) {
      try {
        return await run('finish', finish)
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || stopping.aborted) throw error
      }
      await sleep(clock, RETRY_MS, stopping)
    }
  }

  return {
    record(finish) {
      const recording = stored(finish)
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
