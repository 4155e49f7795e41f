/**
 * The destination is far away: every round trip to it costs. Both contenders have 20 connections to it, which
 * is what both are set to.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Contender, FeedOptions } from '../kit/contender.ts'
import { HTTP_CONNECTIONS, SMTP_CONNECTIONS } from '../kit/load.ts'
import { mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { postfix } from '../kit/postfix.ts'
import type { Column, Findings } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { type Sink, withDistantSink } from '../kit/sink.ts'

export const rtt: Scenario = {
  what: 'accept and deliver to one domain, 40 ms away',
  rounds: 5,
  count: 3_000,
  domainCount: 1,
  run,
}

const ROUND_TRIP_MS = 40
/** More would take longer than what is measured. */
const WARM_UP_COUNT = 500
/** Postfix's default_destination_concurrency_limit, and ours to destinations that we do not know. */
const CONNECTIONS = 20
const PEER = 'Postfix + OpenDKIM'

const COLUMNS: Column[] = [
  { figure: 'deliveredPerSecond', title: 'delivered/s', digits: 0, against: [PEER] },
  { figure: 'roundTrips', title: 'round trips a message', digits: 2 },
  { figure: 'cpuSecondsPer1000', title: 'CPU s/1,000', digits: 2 },
  { figure: 'extraCount', title: 'delivered twice', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, 1)
  const peer = postfix(folder, { signing: true })
  const ours = mailhorn(folder, { signingSlots, profiles })
  const measurements = await inTurns(options, [peer, ours], contender => {
    const connections = contender.name.startsWith(PEER) ? SMTP_CONNECTIONS : HTTP_CONNECTIONS
    return withDistantSink(folder, { roundTripMs: ROUND_TRIP_MS }, sink =>
      withStarted(contender, { held: false }, () =>
        measured(contender, sink, { count, connections, domainCount: 1 }),
      ),
    )
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

/** After a warm-up, in which connections are opened. */
async function measured(contender: Contender, sink: Sink, load: FeedOptions) {
  const { count } = load
  await contender.feed({ ...load, count: WARM_UP_COUNT })
  await sink.reached(WARM_UP_COUNT)
  const cpuBefore = contender.weigh().cpuSeconds
  const [{ beganAt }, deliveredAt] = await Promise.all([
    contender.feed(load),
    sink.reached(WARM_UP_COUNT + count),
  ])
  const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
  const deliveredPerSecond = (count * 1_000) / (deliveredAt - beganAt)
  await pause(500)
  return {
    deliveredPerSecond,
    roundTrips: (CONNECTIONS * 1_000) / deliveredPerSecond / ROUND_TRIP_MS,
    cpuSecondsPer1000: (cpuSeconds * 1_000) / count,
    extraCount: sink.count() - WARM_UP_COUNT - count,
  }
}
