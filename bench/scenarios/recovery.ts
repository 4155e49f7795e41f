/**
 * A destination is down while mail for it comes in, and comes back: how long until the last message is
 * delivered.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Contender } from '../kit/contender.ts'
import { HTTP_CONNECTIONS, SMTP_CONNECTIONS } from '../kit/load.ts'
import { mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { postfix } from '../kit/postfix.ts'
import { weighThreads } from '../kit/process.ts'
import { type Column, cpuSplit, type Findings } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { withSink } from '../kit/sink.ts'

export const recovery: Scenario = {
  what: 'deliver what came for a dead destination, once it is back and the operator says so',
  rounds: 5,
  count: 20_000,
  domainCount: 1,
  run,
}

/** After the last message has come; what waits is prepared meanwhile, by either. */
const OUTAGE_LASTS_MS = 60_000

const COLUMNS: Column[] = [
  { figure: 'drainedPerSecond', title: 'drained/s', digits: 0, against: ['Postfix + OpenDKIM'] },
  { figure: 'drainSeconds', title: 's', digits: 1 },
  { figure: 'acceptedPerSecond', title: 'accepted/s before', digits: 0 },
  { figure: 'cpuSecondsPer1000', title: 'CPU s/1,000 drained', digits: 2 },
  { figure: 'extraCount', title: 'delivered twice', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, 1)
  const ours = mailhorn(folder, { signingSlots, profiles })
  const measurements = await inTurns(options, [postfix(folder, { signing: true }), ours], contender =>
    withStarted(contender, { held: false }, () =>
      measured(contender, folder, count, contender === ours ? HTTP_CONNECTIONS : SMTP_CONNECTIONS),
    ),
  )
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function measured(contender: Contender, folder: string, count: number, connections: number) {
  const { elapsedMs } = await contender.feed({ count, connections, domainCount: 1 })
  await pause(OUTAGE_LASTS_MS)
  return withSink(folder, async sink => {
    const threadsBefore = weighThreads(contender.roots())
    const { at, cpuSeconds: cpuBefore } = await contender.flush()
    const drainSeconds = ((await sink.reached(count)) - at) / 1_000
    const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
    return {
      drainedPerSecond: count / drainSeconds,
      drainSeconds,
      acceptedPerSecond: (count * 1_000) / elapsedMs,
      cpuSecondsPer1000: (cpuSeconds * 1_000) / count,
      extraCount: sink.count() - count,
      ...cpuSplit(threadsBefore, weighThreads(contender.roots()), { total: cpuSeconds, count }),
    }
  })
}
