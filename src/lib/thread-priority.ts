/** Lowers the scheduling priority of a thread, where the operating system supports it. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Niceness of threads that process messages which have already been accepted. They may wait while more
 * messages are accepted.
 */
export const AFTER_ACCEPTING = 15

/**
 * Lowers the priority of the calling thread: the thread gets the CPU time that others leave, and a small
 * share when they leave none. On Linux each thread has its own niceness.
 *
 * @param niceness from 0 to 19
 * @returns whether the system supports it
 */
export function stepBack(niceness: number): boolean {
  if (process.platform !== 'linux') return false
  const [, id] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
  if (id === undefined) return false
  setPriority(Number(id), niceness)
  return true
}
