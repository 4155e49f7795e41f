/** Lowers the scheduling priority of a thread, where the operating system supports it. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Of threads that work on what has been taken, and may wait while more is being taken. */
export const AFTER_ACCEPTING = 15

/**
 * The calling thread gets what the others leave, and a small part where they leave nothing. Linux gives each
 * thread a niceness of its own.
 *
 * @param niceness from 0 to 19
 * @returns whether the system could be told
 */
export function stepBack(niceness: number): boolean {
  if (process.platform !== 'linux') return false
  const [, id] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
  if (id === undefined) return false
  setPriority(Number(id), niceness)
  return true
}
