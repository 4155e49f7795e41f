/** Reads reports on a thread of its own, which nobody waits for: hostile mail costs the thread, at worst. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { type Caller, createCaller } from '../lib/calls.ts'
import { type Clock, within } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Report } from '../reports/report.ts'

export interface ReportReader {
  /** @throws Error when it took too long, or the thread ended over it */
  read(bytes: Uint8Array): Promise<Report>
  close(): Promise<void>
}

export interface ReportThreadData {
  calls: MessagePort
}

interface ReaderOptions {
  /** File of the thread; it is started when there is work for it. */
  entry: URL
  clock: Clock
  log: Log
}

const LONGEST_MS = 10_000
const HEAP_MIB = 128

export function createReportReader({ entry, clock, log }: ReaderOptions): ReportReader {
  let running: { worker: Worker; caller: Caller } | undefined

  const start = () => {
    const { port1, port2 } = new MessageChannel()
    const worker = new Worker(entry, {
      workerData: { calls: port2 } satisfies ReportThreadData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    })
    worker.on('error', error => log.error({ err: error }, 'the thread that reads reports died'))
    port1.on('close', () => {
      if (running?.worker === worker) running = undefined
    })
    return { worker, caller: createCaller(port1) }
  }
  const end = async () => {
    const ending = running
    running = undefined
    await ending?.worker.terminate()
  }

  return {
    async read(bytes) {
      running ??= start()
      const report = await within(clock, LONGEST_MS, running.caller.call('read', bytes))
      if (report !== undefined) return report as Report
      await end()
      throw new Error(`could not be read within ${LONGEST_MS / 1_000} s`)
    },
    close: end,
  }
}
