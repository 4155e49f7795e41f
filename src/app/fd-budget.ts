/**
 * Divides the limit of open files between the listeners and deliveries, so that each leaves descriptors to
 * the others and to files that are opened in between. Part of the composition root.
 */
import { availableParallelism } from 'node:os'
import type { Config } from '../config/config.ts'
import { machineMemoryBytes, SEVERAL_THREADS_BYTES } from '../lib/machine-memory.ts'
import { openFileLimit } from '../lib/open-files.ts'

interface FdBudget {
  /** Maximum number of connections of each HTTP listener. */
  http: number
  /** Maximum number of connections of each SMTP listener. */
  smtp: number
  /** Maximum number of deliveries in progress. */
  deliveries: number
  /** Maximum number of idle connections to MX hosts. */
  idle: number
}

/** Descriptors of threads, the database, logs, DNS queries and the listener for metrics. */
const OTHER_FILES = 176
const LEFT_MIN = 64
/**
 * Shares of the remaining descriptors. Three HTTP and four SMTP listeners, deliveries, an eighth as many
 * parked deliveries, and idle connections together stay within the limit.
 */
const SHARES = { http: 0.12, smtp: 0.07, deliveries: 0.22, idle: 0.1 }
const COUNT_MAX = { http: 5_000, smtp: 500 }
const IDLE_OF_THREAD_MAX = 1000

export function threadCountOf({ threads }: Config['delivery']): number {
  if (threads > 0) return threads
  return machineMemoryBytes() < SEVERAL_THREADS_BYTES ? 1 : availableParallelism()
}

export function fdBudget(
  { delivery }: Pick<Config, 'delivery'>,
  limit = openFileLimit() ?? Number.POSITIVE_INFINITY,
): FdBudget {
  const left = Math.max(limit - OTHER_FILES, LEFT_MIN)
  const within = (share: keyof typeof SHARES, max: number) => Math.min(max, Math.floor(left * SHARES[share]))
  return {
    http: within('http', COUNT_MAX.http),
    smtp: within('smtp', COUNT_MAX.smtp),
    deliveries: within('deliveries', delivery.connections),
    idle: within('idle', IDLE_OF_THREAD_MAX * threadCountOf(delivery)),
  }
}
