/**
 * The net under all error paths of the main thread: an uncaught error is logged, counted against its task,
 * and ends the service in order. Worker threads and child processes have their own: they are logged and
 * started again.
 */
import type { Log } from '../lib/log.ts'
import { currentTask } from '../lib/tasks.ts'
import { recordCrash } from './crashes.ts'

/** The stop takes as long as after SIGTERM, but not longer than this. */
const STOP_MS_MAX = 30_000

interface UncaughtOptions {
  dataDir: string
  log: Log
  /** Stops the service; undefined while it starts. */
  stop(): Promise<void> | undefined
}

export function endOnUncaughtErrors({ dataDir, log, stop }: UncaughtOptions): void {
  const startedAt = performance.now()
  let isEnding = false
  process.on('uncaughtException', (error, origin) => {
    const task = currentTask()
    log.fatal(
      { event: 'uncaught_error', task: task ?? null, origin, err: error },
      'An error was not handled; the service stops',
    )
    if (isEnding) return
    isEnding = true
    if (task !== undefined)
      recordCrash(dataDir, { task, at: Date.now(), message: `${error}` }, performance.now() - startedAt)
    process.exitCode = 1
    const exit = () => process.exit(1)
    setTimeout(exit, STOP_MS_MAX)
    Promise.resolve(stop()).then(exit, exit)
  })
}
