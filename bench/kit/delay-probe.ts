/**
 * Loaded into Mailhorn before it starts: on SIGUSR2 it writes down for how long the main thread was held
 * since the last time.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

export interface Delays {
  /** Delay of event-loop turns, by the clock. */
  p99Ms: number
  maxMs: number
  /** The most CPU the thread has used from one turn to the next. */
  maxCpuMs: number
  /** All the CPU the thread has used. */
  cpuMs: number
}

const file = process.env.BENCH_DELAYS
if (isMainThread && file !== undefined) watch(file)

function watch(file: string) {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let [begin, last, maxCpuMs] = [usedMs(), usedMs(), 0]
  setInterval(() => {
    const now = usedMs()
    maxCpuMs = Math.max(maxCpuMs, now - last)
    last = now
  }, 1).unref()
  process.on('SIGUSR2', () => {
    const [p99Ms, maxMs] = [delays.percentile(99) / 1e6, delays.max / 1e6]
    const found: Delays = { p99Ms, maxMs, maxCpuMs, cpuMs: usedMs() - begin }
    writeFileSync(`${file}.draft`, JSON.stringify(found))
    renameSync(`${file}.draft`, file)
    delays.reset()
    maxCpuMs = 0
    begin = usedMs()
    last = begin
  })
}
