/**
 * Checks that the database file is still the one that was opened. Data written to a file that was removed or
 * replaced would be lost without notice at the next start.
 */
import { statSync } from 'node:fs'
import { type Clock, every, type Timer } from '../lib/clock.ts'

const LOOK_EVERY_MS = 5_000

/** @param onOther called once */
export function watchSameFile(path: string, clock: Clock, onOther: (error: Error) => void): Timer {
  const opened = placeOf(path)
  const looking = every(clock, LOOK_EVERY_MS, () => {
    const place = placeOf(path)
    if (place === opened) return
    looking.cancel()
    onOther(new Error(`${path} has been ${place === undefined ? 'removed' : 'replaced'}`))
  })
  return looking
}

/** Undefined where there is none. @throws what else may be wrong with the path */
function placeOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found && `${found.dev} ${found.ino}`
}
