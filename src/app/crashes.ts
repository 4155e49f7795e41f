/**
 * Remembers crashes over restarts, in a small file of the data folder, and finds the tasks that end the
 * service soon after each start. A file is used because the database may be what crashes.
 *
 * In: uncaught errors, from `uncaught-errors.ts`. Out: parked tasks, for the start, the alerts and the
 * doctor.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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

const CRASH_FILE = 'crashes.json'
/** A crash counts when the service had run for less than this. */
const SOON_MS = 60_000
const CRASHES_TO_PARK = 3
const PARKED_MS = 60 * 60_000
const CRASHES_KEPT_MAX = 50
const MESSAGE_CHARACTERS_MAX = 300

/**
 * Records that a task has ended the service. Never throws: a crash that cannot be recorded is not counted.
 * @param upMs time for which the service had run
 */
export function recordCrash(folder: string, crash: Crash, upMs: number): void {
  if (upMs >= SOON_MS) return
  const message = crash.message.slice(0, MESSAGE_CHARACTERS_MAX)
  const crashes = [...readCrashes(folder, crash.at), { ...crash, message }].slice(-CRASHES_KEPT_MAX)
  const path = join(folder, CRASH_FILE)
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify({ crashes }, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
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
