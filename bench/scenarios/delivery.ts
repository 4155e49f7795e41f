/** Accepted and delivered, everything signed but where the name says otherwise. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Contender, FeedOptions } from '../kit/contender.ts'
import { HTTP_CONNECTIONS, LONG_WARM_UP_COUNT, SMTP_CONNECTIONS, WARM_UP_COUNT } from '../kit/load.ts'
import { mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { BY_SMTP_SOURCE, postfix } from '../kit/postfix.ts'
import { watchPeakRss, weighThreads } from '../kit/process.ts'
import { type Column, cpuSplit, type Findings, type Measurement } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { type Sink, withSink } from '../kit/sink.ts'

export const e2e: Scenario = {
  what: 'accept and deliver to one domain',
  rounds: 5,
  count: 30_000,
  domainCount: 1,
  run,
}

export const domains: Scenario = {
  what: 'accept and deliver to many domains with an MX host each',
  rounds: 5,
  count: 20_000,
  domainCount: 1_000,
  run,
}

/** Mailhorn sends nothing unsigned: next to a Postfix that does, it signs with what costs least. */
const ED25519_SLOT = 3
/** Slot of an RSA key, with which OpenDKIM signs, and Mailhorn for domains that have no other key in DNS. */
const RSA_SLOT = 1

const COLUMNS: Column[] = [
  {
    figure: 'deliveredPerSecond',
    title: 'delivered/s',
    digits: 0,
    against: ['Postfix', 'Postfix + OpenDKIM', `Postfix + OpenDKIM${BY_SMTP_SOURCE}`],
  },
  { figure: 'acceptedPerSecond', title: 'accepted/s meanwhile', digits: 0 },
  { figure: 'cpuSecondsPer1000', title: 'CPU s/1,000', digits: 2 },
  { figure: 'feederCpuSecondsPer1000', title: "feeder's", digits: 2 },
  { figure: 'peakRssMb', title: 'peak RSS, MB', digits: 0 },
  { figure: 'extraCount', title: 'delivered twice', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, domainCount, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const ours = mailhorn(folder, { signingSlots, profiles })
  const oursAlone = [ED25519_SLOT, RSA_SLOT].map(slot => mailhorn(folder, { signingSlots: [slot], profiles }))
  const peers = [postfix(folder, { signing: false }), postfix(folder, { signing: true })]
  if (domainCount === 1) peers.push(postfix(folder, { signing: true, bySmtpSource: true }))
  const contenders: Contender[] = [...peers, ...oursAlone, ours]
  const measurements = await inTurns(options, contenders, async contender => {
    const isPeer = peers.includes(contender)
    const connections = isPeer ? SMTP_CONNECTIONS : HTTP_CONNECTIONS
    const warmUpCount = isPeer ? WARM_UP_COUNT : LONG_WARM_UP_COUNT
    return withSink(folder, sink =>
      withStarted(contender, { held: false }, () =>
        measured(contender, sink, warmUpCount, { count, connections, domainCount }),
      ),
    )
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

/** Through a warm-up, until everything that was accepted has been delivered. */
async function measured(
  contender: Contender,
  sink: Sink,
  warmUpCount: number,
  load: FeedOptions,
): Promise<Measurement['figures']> {
  await contender.feed({ ...load, count: warmUpCount })
  await sink.reached(warmUpCount)
  await pause(1_000)
  const cpuBefore = contender.weigh().cpuSeconds
  const threadsBefore = weighThreads(contender.roots())
  const rss = watchPeakRss(contender.roots)
  const [{ beganAt, elapsedMs, feederCpuSeconds }, deliveredAt] = await Promise.all([
    contender.feed(load),
    sink.reached(warmUpCount + load.count),
  ])
  const perThousand = 1_000 / load.count
  const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
  const threads = weighThreads(contender.roots())
  const peakRssMb = rss.stop() / 2 ** 20
  await pause(500)
  return {
    deliveredPerSecond: (load.count * 1_000) / (deliveredAt - beganAt),
    acceptedPerSecond: (load.count * 1_000) / elapsedMs,
    cpuSecondsPer1000: cpuSeconds * perThousand,
    feederCpuSecondsPer1000: feederCpuSeconds * perThousand,
    peakRssMb,
    extraCount: sink.count() - warmUpCount - load.count,
    ...cpuSplit(threadsBefore, threads, { total: cpuSeconds, count: load.count }),
  }
}
