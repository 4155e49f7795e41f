/** Starts the process of the honest clients, and judges what they report. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Kind, Order, Report, Visit } from './honest-protocol.ts'

/**
 * An honest client's request may take no longer than this in 99 of 100 cases, whatever attack is under way.
 */
export const HONEST_P99_MOST_MS = 2_000

export interface HonestClients {
  begin(visit: Visit): void
  /** Resolves when the requests under way have ended, too. */
  end(): Promise<Latencies[]>
  close(): Promise<void>
}

export interface Latencies {
  kind: Kind
  count: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  failures: string[]
}

export function startHonestClients(): HonestClients {
  const child = fork(fileURLToPath(new URL('honest-clients.ts', import.meta.url)), { stdio: 'inherit' })
  const order = (message: Order) => void child.send(message)
  return {
    begin: visit => order({ begin: visit }),
    async end() {
      order('end')
      const [report] = (await once(child, 'message')) as [Report]
      return report.map(([kind, { latenciesMs, failures }]) => ({
        kind,
        count: latenciesMs.length,
        ...{ p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) },
        maxMs: quantile(latenciesMs, 1),
        failures,
      }))
    },
    async close() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

/** Returns a line for each latency or failure of honest clients that is above the limit. */
export function complaintsOf(latencies: readonly Latencies[]): string[] {
  return latencies.flatMap(({ kind, count, p99Ms, failures }) => {
    const complaints: string[] = []
    if (failures.length > 0)
      complaints.push(
        `${kind}: ${failures.length} of ${count} failed: ${[...new Set(failures)].slice(0, 3).join('; ')}`,
      )
    if (p99Ms > HONEST_P99_MOST_MS) complaints.push(`${kind}: p99 of ${Math.round(p99Ms)} ms`)
    return complaints
  })
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0)
}
