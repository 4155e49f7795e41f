/** Limit of open file descriptors, including sockets, of this process. */
import { readFileSync } from 'node:fs'

const LIMITS_FILE = '/proc/self/limits'

/**
 * Undefined where the system does not say; may be infinite. The runtime has raised it as far as it may be.
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
