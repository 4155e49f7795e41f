/** Durably accepted, nothing delivered: Mailhorn over HTTP, Postfix over SMTP with all mail put on hold. */
import type { Contender, FeedOptions } from '../kit/contender.ts'
import { HTTP_CONNECTIONS, LONG_WARM_UP_COUNT, WARM_UP_COUNT } from '../kit/load.ts'
import { mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { postfix } from '../kit/postfix.ts'
import { watchPeakRss, weighThreads } from '../kit/process.ts'
import { type Column, cpuSplit, type Findings, type Measurement } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { epochNow } from '../kit/time.ts'

export const accept: Scenario = {
  what: 'accept durably while delivery is held',
  rounds: 5,
  count: 10_000,
  domainCount: 1,
  run,
}

/** Postfix gets the best of these in each round. */
export const POSTFIX_CONNECTIONS = [10, 20, 50]

export const ACCEPT_COLUMNS: Column[] = [
  { figure: 'acceptedPerSecond', title: 'accepted/s', digits: 0, against: ['Postfix'] },
  { figure: 'p99Ms', title: 'p99, ms', digits: 1 },
  { figure: 'connections', title: 'connections', digits: 0 },
  { figure: 'cpuSecondsPer1000', title: 'CPU s/1,000', digits: 2 },
  { figure: 'feederCpuSecondsPer1000', title: "feeder's", digits: 2 },
  { figure: 'peakRssMb', title: 'peak RSS, MB', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, domainCount, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const ours = mailhorn(folder, { signingSlots, profiles })
  const measurements = await inTurns(
    options,
    [postfix(folder, { signing: false }), ours],
    async contender => {
      const tried: Measurement['figures'][] = []
      for (const connections of contender === ours ? [HTTP_CONNECTIONS] : POSTFIX_CONNECTIONS)
        tried.push(await measuredAccept(contender, { count, connections, domainCount }))
      return tried.reduce((a, b) => (a.acceptedPerSecond! >= b.acceptedPerSecond! ? a : b))
    },
  )
  await unbound.end()
  return { columns: ACCEPT_COLUMNS, measurements }
}

/** @throws when the server does not hold exactly what it has confirmed */
export async function measuredAccept(contender: Contender, load: FeedOptions) {
  return withStarted(contender, { held: true }, async () => {
    const { count, connections } = load
    const warmUpCount = contender.settled ? LONG_WARM_UP_COUNT : WARM_UP_COUNT
    await contender.feed({ ...load, count: warmUpCount })
    await contender.settled?.()
    const threadsBefore = weighThreads(contender.roots())
    const cpuBefore = contender.weigh().cpuSeconds
    const rss = watchPeakRss(contender.roots)
    const { elapsedMs, p99Ms, feederCpuSeconds } = await contender.feed(load)
    const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
    const threads = weighThreads(contender.roots())
    const peakRssMb = rss.stop() / 2 ** 20
    const held = contender.queuedCount() - warmUpCount
    if (held !== count) throw new Error(`${contender.name} confirmed ${count} messages and holds ${held}`)
    const later = await settledFigures(contender, { count, cpuBefore })
    return {
      acceptedPerSecond: (count * 1_000) / elapsedMs,
      p99Ms,
      connections,
      cpuSecondsPer1000: (cpuSeconds * 1_000) / count,
      feederCpuSecondsPer1000: (feederCpuSeconds * 1_000) / count,
      peakRssMb,
      ...later,
      ...cpuSplit(threadsBefore, threads, { total: cpuSeconds, count }),
    }
  })
}

/** Measures the time after the last confirmation, for contenders that still have work to do then. */
async function settledFigures(
  contender: Contender,
  { count, cpuBefore }: { count: number; cpuBefore: number },
): Promise<Measurement['figures']> {
  if (!contender.settled) return {}
  const confirmedAt = epochNow()
  await contender.settled()
  const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
  return {
    settledSeconds: (epochNow() - confirmedAt) / 1_000,
    cpuSecondsPer1000InAll: (cpuSeconds * 1_000) / count,
  }
}
