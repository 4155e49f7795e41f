/**
 * Background tasks by name, such as the checks of domains. A crash is attributed to the task in whose
 * context it happens, and a task that ends the service again and again is parked for a while (decision
 * 0124).
 *
 * Called by `sweeper.ts`, `due-timer.ts` and processors of received mail; `app/crashes.ts` parks tasks.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from './clock.ts'

const running = new AsyncLocalStorage<string>()
/** Ends of parking in ms since the epoch. */
const parked = new Map<string, number>()

/** Runs work of a task. Timers, sockets and promises that the work creates belong to the task, too. */
export function inTask<T>(task: string, work: () => T): T {
  return running.run(task, work)
}

/** @returns the task that the caller belongs to; undefined outside of tasks */
export function currentTask(): string | undefined {
  return running.getStore()
}

/** Keeps a task of this process from running. @param until ms since the epoch */
export function parkTask(task: string, until: number): void {
  parked.set(task, until)
}

/** @returns the time in ms until the task may run; 0 when it is not parked */
export function parkedMs(task: string, clock: Pick<Clock, 'now'>): number {
  return Math.max(0, (parked.get(task) ?? 0) - clock.now())
}
