/** The memory of Mailhorn while a long queue builds up, waits, and is worked off. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Contender } from '../kit/contender.ts'
import { HTTP_CONNECTIONS } from '../kit/load.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
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

/** After the last message has come: what waits is tried, and prepared, meanwhile. */
const WAITS_MS = 30_000

const COLUMNS: Column[] = [
  { figure: 'acceptingPeakRssMb', title: 'peak RSS while it builds up, MB', digits: 0 },
  { figure: 'queuedRssMb', title: 'RSS with all queued, MB', digits: 0 },
  { figure: 'drainingPeakRssMb', title: 'peak RSS while it is worked off, MB', digits: 0 },
  { figure: 'drainedPerSecond', title: 'drained/s', digits: 0 },
  { figure: 'databaseBytesPerMessage', title: 'database, bytes/message', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, domainCount, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const ours = (name: string) => ({
    ...mailhorn(folder, { signingSlots, profiles }),
    name: `Mailhorn, ${name}`,
  })
  const held = ours('delivery held')
  const dead = ours('destinations dead')
  const measurements = await inTurns(options, [held, dead], contender =>
    contender === held ? whileHeld(held, options) : whileDead(contender, options),
  )
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

function whileHeld(contender: MailhornContender, { folder, count, domainCount }: ScenarioOptions) {
  return withSink(folder, sink =>
    withStarted(contender, { held: true }, async () => {
      const accepted = await accept(contender, count, domainCount)
      const queuedRssMb = rssMb(contender)
      const { at } = await contender.release()
      const draining = watchPeakRss(contender.roots)
      const drainSeconds = ((await sink.reached(count)) - at) / 1_000
      return {
        ...accepted,
        queuedRssMb,
        drainingPeakRssMb: draining.stop() / 2 ** 20,
        drainedPerSecond: count / drainSeconds,
        databaseBytesPerMessage: contender.databaseBytes() / count,
      }
    }),
  )
}

/** All of the service is at work: it tries what waits, and signs it meanwhile. */
function whileDead(contender: Contender, { count, domainCount }: ScenarioOptions) {
  return withStarted(contender, { held: false }, async () => {
    const accepted = await accept(contender, count, domainCount)
    await pause(WAITS_MS)
    return { ...accepted, queuedRssMb: rssMb(contender) }
  })
}

async function accept(contender: Contender, count: number, domainCount: number) {
  const accepting = watchPeakRss(contender.roots)
  await contender.feed({ count, connections: HTTP_CONNECTIONS, domainCount })
  return { acceptingPeakRssMb: accepting.stop() / 2 ** 20 }
}

function rssMb(contender: Contender): number {
  return contender.weigh().rssBytes / 2 ** 20
}
