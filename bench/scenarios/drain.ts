/** A queue that was held is let go: how long until the last message is delivered. */
import type { Contender, FeedOptions } from '../kit/contender.ts'
import { HTTP_CONNECTIONS, SMTP_CONNECTIONS } from '../kit/load.ts'
import { mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { postfix } from '../kit/postfix.ts'
import { watchPeakRss } from '../kit/process.ts'
import type { Column, Findings } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { type Sink, withSink } from '../kit/sink.ts'

export const drain: Scenario = {
  what: 'deliver what was held',
  rounds: 5,
  count: 20_000,
  domainCount: 1,
  run,
}

const COLUMNS: Column[] = [
  { figure: 'drainedPerSecond', title: 'drained/s', digits: 0, against: ['Postfix + OpenDKIM'] },
  { figure: 'drainSeconds', title: 's', digits: 1 },
  { figure: 'acceptedPerSecond', title: 'accepted/s before', digits: 0 },
  { figure: 'cpuSecondsPer1000', title: 'CPU s/1,000 drained', digits: 2 },
  { figure: 'peakRssMb', title: 'peak RSS, MB', digits: 0 },
  { figure: 'extraCount', title: 'delivered twice', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, domainCount, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const ours = mailhorn(folder, { signingSlots, profiles })
  const measurements = await inTurns(options, [postfix(folder, { signing: true }), ours], contender =>
    withSink(folder, sink =>
      withStarted(contender, { held: true }, () =>
        measured(contender, sink, {
          count,
          domainCount,
          connections: contender === ours ? HTTP_CONNECTIONS : SMTP_CONNECTIONS,
        }),
      ),
    ),
  )
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function measured(contender: Contender, sink: Sink, load: FeedOptions) {
  const { count } = load
  const { elapsedMs } = await contender.feed(load)
  if (contender.queuedCount() !== count || sink.count() > 0)
    throw new Error(`${contender.name} holds ${contender.queuedCount()} of ${count} messages`)
  const { at, cpuSeconds: cpuBefore } = await contender.release()
  const rss = watchPeakRss(contender.roots)
  const drainSeconds = ((await sink.reached(count)) - at) / 1_000
  const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
  return {
    drainedPerSecond: count / drainSeconds,
    drainSeconds,
    acceptedPerSecond: (count * 1_000) / elapsedMs,
    cpuSecondsPer1000: (cpuSeconds * 1_000) / count,
    peakRssMb: rss.stop() / 2 ** 20,
    extraCount: sink.count() - count,
  }
}
