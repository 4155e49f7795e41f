/** Limit of open file descriptors, including sockets, of this process. */
import { readFileSync } from 'node:fs'

const LIMITS_FILE = '/proc/self/limits'

/**
 * Returns the soft limit, which Node raises to the hard limit at its start.
 * @returns undefined when the system does not report a limit; may be infinite
 */
export function openFileLimit(limitsFile = LIMITS_FILE): number | undefined {
  let text: string
  try {
    text = readFileSync(limitsFile, 'utf8')
  } catch {
    return undefined
  }
  const [, limit] = /^Max open files\s+(\S+)/m.exec(text) ?? []
  if (limit === undefined) return undefined
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
}
