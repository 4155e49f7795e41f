/**
 * The net under all error paths of the main thread: an uncaught error is logged, counted against its task,
 * and ends the service in order. Crashes are remembered over restarts, and tasks that end the service soon
 * after each start are parked. Worker threads and child processes have their own: they are logged and started
 * again.
 *
 * In: uncaught errors. Out: parked tasks, for the start, the alerts and the doctor.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceJsonFile } from '../lib/json-file.ts'
import type { Log } from '../lib/log.ts'
import { currentTask, parkTask } from '../lib/tasks.ts'
import { hourOf } from '../resources/alerts/operator-alerts.ts'
import type { AppContext } from './context.ts'

interface Crash {
  task: string
  /** ms since the epoch */
  at: number
  message: string
}

interface ParkedTask {
  task: string
  /** ms since the epoch */
  until: number
  /** Message of the last crash. */
  reason: string
}

interface UncaughtOptions {
  dataDir: string
  log: Log
  /** Stops the service; undefined while it starts. */
  stop(): Promise<void> | undefined
}

/** Crashes are in a file of the data folder, because the database may be what crashes. */
const CRASH_FILE = 'crashes.json'
/** A crash counts when the service had run for less than this. */
const SOON_MS = 60_000
const CRASHES_TO_PARK = 3
const PARKED_MS = 60 * 60_000
const CRASHES_KEPT_MAX = 50
const MESSAGE_CHARACTERS_MAX = 300
/** The stop takes as long as after SIGTERM, but not longer than this. */
const STOP_MS_MAX = 30_000
const TASK_PARKED_ALERT = 'task-parked'

/** Ends the service in order after an uncaught error. */
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

/**
 * Keeps background tasks that end the service soon after each start from running, and tells the operator. To
 * be called before any task starts.
 */
export async function parkTasks({
  config,
  clock,
  log,
  store,
}: Pick<AppContext, 'config' | 'clock' | 'log' | 'store'>): Promise<void> {
  const raisedAt = clock.now()
  for (const { task, until, reason } of parkedTasks(config.dataDir, raisedAt)) {
    parkTask(task, until)
    const retryAt = new Date(until).toISOString()
    log.error(
      { event: 'task_parked', task, reason, retry_at: retryAt },
      `The background task "${task}" has ended the service three times and is not run until ${retryAt}`,
    )
    await store.run('raiseAlert', {
      kind: TASK_PARKED_ALERT,
      provider: task,
      sourceIp: '',
      mxHost: null,
      hour: hourOf(raisedAt),
      raisedAt,
      domain: '',
      reply: `The task is not run until ${retryAt}. ${reason}`,
    })
  }
}

/**
 * Records that a task has ended the service. Never throws: a crash that cannot be recorded is not counted.
 * @param upMs time for which the service had run
 */
function recordCrash(folder: string, crash: Crash, upMs: number): void {
  if (upMs >= SOON_MS) return
  const message = crash.message.slice(0, MESSAGE_CHARACTERS_MAX)
  const crashes = [...readCrashes(folder, crash.at), { ...crash, message }].slice(-CRASHES_KEPT_MAX)
  try {
    replaceJsonFile(join(folder, CRASH_FILE), { crashes })
  } catch {
    // the log has the crash
  }
}

/** @returns tasks that have ended three starts within the last hour, each within a minute */
export function parkedTasks(folder: string, now: number): ParkedTask[] {
  const byTask = Map.groupBy(readCrashes(folder, now), ({ task }) => task)
  return [...byTask].flatMap(([task, crashes]) => {
    const { at, message } = crashes.at(-1)!
    return crashes.length < CRASHES_TO_PARK ? [] : [{ task, until: at + PARKED_MS, reason: message }]
  })
}

/** @returns crashes of the last hour; none when the file is missing or damaged */
function readCrashes(folder: string, now: number): Crash[] {
  try {
    const { crashes } = JSON.parse(readFileSync(join(folder, CRASH_FILE), 'utf8')) as { crashes: Crash[] }
    return crashes.filter(({ task, at }) => typeof task === 'string' && at > now - PARKED_MS && at <= now)
  } catch {
    return []
  }
}
