/**
 * What each part may have open at once, where the system allows few files: whoever comes by one door leaves
 * room for the others, and for the files that are opened in between. Part of the composition root.
 */
import { availableParallelism } from 'node:os'
import type { Config } from '../config/config.ts'
import { openFileLimit } from '../lib/open-files.ts'

interface FdBudget {
  /** Of each HTTP listener. */
  http: number
  /** Of each SMTP listener. */
  smtp: number
  /** Deliveries under way. */
  deliveries: number
  /** Connections to MX hosts that are kept for the next message. */
  idle: number
}

/** Threads, the database, logs, look-ups. */
const OTHER_FILES = 160
const LEFT_MIN = 64
/**
 * Three HTTP listeners and four of SMTP, in the worst case, with deliveries and idle connections: within the
 * whole.
 */
const SHARES = { http: 0.12, smtp: 0.07, deliveries: 0.22, idle: 0.1 }
const COUNT_MAX = { http: 5_000, smtp: 500 }
const IDLE_OF_THREAD_MAX = 1000

export function threadCountOf({ threads }: Config['delivery']): number {
  return threads || availableParallelism()
}

export function fdBudget(
  { delivery }: Pick<Config, 'delivery'>,
  limit = openFileLimit() ?? Number.POSITIVE_INFINITY,
): FdBudget {
  const left = Math.max(limit - OTHER_FILES, LEFT_MIN)
  const within = (share: keyof typeof SHARES, most: number) =>
    Math.min(most, Math.floor(left * SHARES[share]))
  return {
    http: within('http', COUNT_MAX.http),
    smtp: within('smtp', COUNT_MAX.smtp),
    deliveries: within('deliveries', delivery.connections),
    idle: within('idle', IDLE_OF_THREAD_MAX * threadCountOf(delivery)),
  }
}
