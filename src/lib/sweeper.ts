/** Periodic background work, done in small steps with pauses in between so that other work is not delayed. */
import type { Clock } from './clock.ts'

export interface Sweeper {
  /** Resolves when nothing is under way. */
  stop(): Promise<void>
  /** The next round begins at once, or right after the one under way. */
  hurry(): void
}

interface SweeperOptions {
  /** One round of the work; yields after every step. */
  sweep(): AsyncIterable<unknown>
  /** Between the end of a round and the next, ms. */
  everyMs: number
  clock: Clock
  onError(error: unknown): void
}

/**
 * So many times as long as a step took: the work gets a third of the time at most, and less where others
 * wait, too.
 */
const REST = 2
/** Also where a clock has jumped in the middle of a step. */
const PAUSE_MS_MAX = 60_000

/**
 * Sweeps at once, then again and again. A round that fails is told of and ends; the next begins at its time.
 */
export function startSweeper({ sweep, everyMs, clock, onError }: SweeperOptions): Sweeper {
  let stopped = false
  let isUrgent = false
  let wake = () => {}

  const rest = (ms: number) =>
    new Promise<void>(resolve => {
      const timer = clock.timer(ms, resolve)
      wake = () => {
        timer.cancel()
        resolve()
      }
    })
  const round = async () => {
    let beganAt = clock.monotonic()
    for await (const _ of sweep()) {
      const tookMs = clock.monotonic() - beganAt
      if (tookMs > 0 && !stopped) await rest(Math.min(tookMs * REST, PAUSE_MS_MAX))
      if (stopped) return
      beganAt = clock.monotonic()
    }
  }
  const rounds = async () => {
    while (!stopped) {
      isUrgent = false
      await round().catch(onError)
      if (!stopped && !isUrgent) await rest(everyMs)
    }
  }

  const running = rounds()
  return {
    async stop() {
      stopped = true
      wake()
      await running
    },
    hurry() {
      isUrgent = true
      wake()
    },
  }
}
