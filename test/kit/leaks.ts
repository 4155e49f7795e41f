/** Finds what a service that has stopped left behind in its process: open files and waiting timers. */
import { readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { sep } from 'node:path'
import type { AdjustableClock } from '../../src/lib/adjustable-clock.ts'

export interface WatchedClock extends AdjustableClock {
  /** Returns the places in `src` that set the timers that neither fired nor were cancelled. */
  waiting(): string[]
}

/** Returns the clock with an account of its timers in this thread. */
export function watchTimers(clock: AdjustableClock): WatchedClock {
  const waiting = new Map<object, Error>()
  return {
    ...clock,
    timer(ms, fn) {
      const key = {}
      const timer = clock.timer(ms, () => {
        waiting.delete(key)
        fn()
      })
      waiting.set(key, new Error('set here'))
      return {
        cancel() {
          waiting.delete(key)
          timer.cancel()
        },
      }
    },
    waiting: () => [...waiting.values()].map(placeIn),
  }
}

function placeIn({ stack = '' }: Error): string {
  return /\/src\/\S+:\d+/.exec(stack)?.[0] ?? stack
}

/** Returns the paths of the files below `folder` that this process has open. */
export function openFilesIn(folder: string): string[] {
  const inside = `${realpathSync(folder)}${sep}`
  return readdirSync('/proc/self/fd').flatMap(descriptor => {
    const path = pathOf(descriptor)
    return path.startsWith(inside) ? [path] : []
  })
}

function pathOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return '' // closed meanwhile
  }
}
