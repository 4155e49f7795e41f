/** The memory of Posthorn while a long queue builds up and while it is worked off. */
import { HTTP_CONNECTIONS } from '../kit/load.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { posthorn } from '../kit/posthorn.ts'
import { watchPeakRss } from '../kit/process.ts'
import type { Column, Findings } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { withSink } from '../kit/sink.ts'

export const queued: Scenario = {
  what: 'memory with a long queue',
  rounds: 1,
  count: 100_000,
  domainCount: 1_000,
  run,
}

const COLUMNS: Column[] = [
  { figure: 'acceptingPeakRssMb', title: 'peak RSS while it builds up, MB', digits: 0 },
  { figure: 'queuedRssMb', title: 'RSS with all queued, MB', digits: 0 },
  { figure: 'drainingPeakRssMb', title: 'peak RSS while it is worked off, MB', digits: 0 },
  { figure: 'drainedPerSecond', title: 'drained/s', digits: 0 },
  { figure: 'databaseBytesPerMessage', title: 'database, bytes/message', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, domainCount, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const ours = posthorn(folder, { signingSlots, profiles })
  const measurements = await inTurns(options, [ours], contender =>
    withSink(folder, sink =>
      withStarted(contender, { held: true }, async () => {
        const accepting = watchPeakRss(contender.roots)
        await contender.feed({ count, connections: HTTP_CONNECTIONS, domainCount })
        const acceptingPeakRssMb = accepting.stop() / 2 ** 20
        const queuedRssMb = contender.weigh().rssBytes / 2 ** 20
        const { at } = await contender.release()
        const draining = watchPeakRss(contender.roots)
        const drainSeconds = ((await sink.reached(count)) - at) / 1_000
        return {
          acceptingPeakRssMb,
          queuedRssMb,
          drainingPeakRssMb: draining.stop() / 2 ** 20,
          drainedPerSecond: count / drainSeconds,
          databaseBytesPerMessage: ours.databaseBytes() / count,
        }
      }),
    ),
  )
  await unbound.end()
  return { columns: COLUMNS, measurements }
}
