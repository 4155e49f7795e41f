/**
 * Checks that the database file is still the one that was opened. Data written to a file that was removed or
 * replaced would be lost without notice at the next start.
 */
import { statSync } from 'node:fs'
import { type Clock, every, type Timer } from '../../lib/clock.ts'

const CHECK_INTERVAL_MS = 5_000

/** @param onOther called once, when the file was removed or replaced */
export function watchSameFile(path: string, clock: Clock, onOther: (error: Error) => void): Timer {
  const opened = placeOf(path)
  const looking = every(clock, CHECK_INTERVAL_MS, () => {
    const place = placeOf(path)
    if (place === opened) return
    looking.cancel()
    onOther(new Error(`${path} has been ${place === undefined ? 'removed' : 'replaced'}`))
  })
  return looking
}

/**
 * @returns device and inode of the file; undefined when it does not exist
 * @throws when the path cannot be examined for another reason
 */
function placeOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found && `${found.dev} ${found.ino}`
}
