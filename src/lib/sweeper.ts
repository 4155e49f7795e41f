/** Periodic background work, done in small steps with pauses in between so that other work is not delayed. */
import type { Clock } from './clock.ts'
import { inTask, parkedMs } from './tasks.ts'

export interface Sweeper {
  /** Starts no further round. Resolves when the step in progress has ended. */
  stop(): Promise<void>
  /** Starts the next round at once, or right after the one in progress. */
  runSoon(): void
}

interface SweeperOptions {
  /** Name of the background task, see `tasks.ts`. */
  task: string
  /** Does one round of the work and yields after every step. */
  sweep(): AsyncIterable<unknown>
  /** Time between the end of a round and the start of the next, in ms. */
  everyMs: number
  clock: Clock
  onError(error: unknown): void
}

/**
 * After each step, the sweeper rests this many times as long as the step took. The work therefore takes at
 * most a third of the time.
 */
const REST_FACTOR = 2
/** Upper limit of a rest, in case the clock jumped during a step. */
const PAUSE_MS_MAX = 60_000

/** Calls a step that deletes at most `limit` rows, until it deletes fewer. */
export async function* inSteps(
  limit: number,
  step: (limit: number) => Promise<number>,
): AsyncGenerator<void> {
  for (let count = limit; count === limit; yield) count = await step(limit)
}

/**
 * Runs the first round at once and then one round per interval. A round that fails is reported and ends; the
 * next one starts at its time.
 */
export function startSweeper({ task, sweep, everyMs, clock, onError }: SweeperOptions): Sweeper {
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
      if (tookMs > 0 && !stopped) await rest(Math.min(tookMs * REST_FACTOR, PAUSE_MS_MAX))
      if (stopped) return
      beganAt = clock.monotonic()
    }
  }
  const rounds = async () => {
    while (!stopped) {
      const parkedForMs = parkedMs(task, clock)
      if (parkedForMs > 0) {
        await rest(parkedForMs)
        continue
      }
      isUrgent = false
      await inTask(task, round).catch(onError)
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
    runSoon() {
      isUrgent = true
      wake()
    },
  }
}
