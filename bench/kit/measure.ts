/** One timed run of one contender, and the medians of several. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Contender } from './contender.ts'
import { watchPeakRss } from './process.ts'
import { startSink } from './sink.ts'

export interface RunResult {
  contender: string
  acceptedCount: number
  /** Confirmed to the feeder, a second. */
  acceptedPerSecond: number
  /** Taken by the sink, a second, from the first byte to the last message. */
  deliveredPerSecond: number
  /** CPU of all the contender's processes for 1,000 messages, s. */
  cpuSecondsPer1000: number
  feederCpuSecondsPer1000: number
  peakRssMb: number
  /** Messages the sink took beyond those accepted. */
  extraCount: number
}

interface RunOptions {
  folder: string
  count: number
  connections: number
  domainCount: number
}

const WARM_UP = 200

/** From a fresh start, through a warm-up, until everything that was accepted has been delivered. */
export async function measureDelivery(contender: Contender, options: RunOptions): Promise<RunResult> {
  const sink = await startSink(options.folder)
  try {
    await contender.start({ held: false })
    try {
      const warm = await contender.feed({ ...options, count: WARM_UP })
      await sink.reached(warm.acceptedCount)
      await pause(1_000)
      const before = { taken: sink.count(), weight: contender.weigh(), at: performance.now() }
      const rss = watchPeakRss(contender.roots)
      const { acceptedCount, feederCpuSeconds } = await contender.feed(options)
      const acceptedAt = performance.now()
      const deliveredAt = await sink.reached(before.taken + acceptedCount)
      const cpuSeconds = contender.weigh().cpuSeconds - before.weight.cpuSeconds
      const peakRssMb = rss.stop() / 2 ** 20
      await pause(500)
      return {
        contender: contender.name,
        acceptedCount,
        acceptedPerSecond: (acceptedCount * 1000) / (acceptedAt - before.at),
        deliveredPerSecond: (acceptedCount * 1000) / (deliveredAt - before.at),
        cpuSecondsPer1000: (cpuSeconds * 1000) / acceptedCount,
        feederCpuSecondsPer1000: (feederCpuSeconds * 1000) / acceptedCount,
        peakRssMb,
        extraCount: sink.count() - before.taken - acceptedCount,
      }
    } finally {
      await contender.stop()
    }
  } finally {
    await sink.stop()
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Medians by contender, and each as a multiple of the first contender's. */
export function summarise(results: readonly RunResult[]): string {
  const names = [...new Set(results.map(({ contender }) => contender))]
  const of = (name: string, key: keyof RunResult) =>
    median(results.filter(({ contender }) => contender === name).map(result => result[key] as number))
  const rows = names.map(name =>
    [
      name,
      of(name, 'acceptedPerSecond').toFixed(0),
      of(name, 'deliveredPerSecond').toFixed(0),
      ...names.map(other => (of(name, 'deliveredPerSecond') / of(other, 'deliveredPerSecond')).toFixed(2)),
      of(name, 'cpuSecondsPer1000').toFixed(2),
      of(name, 'feederCpuSecondsPer1000').toFixed(2),
      of(name, 'peakRssMb').toFixed(0),
    ].join(' | '),
  )
  const head = [
    '',
    'accepted/s',
    'delivered/s',
    ...names.map(name => `÷ ${name}`),
    'CPU s/1,000',
    'feeder',
    'RSS MB',
  ]
  return [head.join(' | '), head.map(() => '---').join('|'), ...rows].map(row => `| ${row} |`).join('\n')
}
