/** Reads reports on a thread of its own, which nobody waits for: hostile mail costs the thread, at worst. */
import { type Clock, within } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Metrics } from '../lib/metrics.ts'
import { createPassingThread, type PassingThreadData } from '../lib/passing-thread.ts'
import type { Report } from '../reports/report.ts'

export interface ReportReader {
  /** @throws Error when it took too long, or the thread ended over it */
  read(bytes: Uint8Array): Promise<Report>
  close(): Promise<void>
}

export type ReportThreadData = PassingThreadData

interface ReaderOptions {
  /** File of the thread; it is started when there is work for it. */
  entry: URL
  metrics?: Metrics | undefined
  clock: Clock
  log: Log
}

const LONGEST_MS = 10_000
const HEAP_MIB = 128

export function createReportReader({ entry, metrics, clock, log }: ReaderOptions): ReportReader {
  const thread = createPassingThread({
    ...{ name: 'reports', entry, metrics, log },
    heapMib: HEAP_MIB,
    staysWhenIdle: true,
  })
  return {
    async read(bytes) {
      const report = await within(clock, LONGEST_MS, thread.call('read', bytes))
      if (report !== undefined) return report as Report
      await thread.end()
      throw new Error(`could not be read within ${LONGEST_MS / 1_000} s`)
    },
    close: thread.close,
  }
}
