/**
 * Durably accepted by `POST /emails/batch`, nothing delivered; Postfix takes message by message with all mail
 * on hold.
 */

import { mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { postfix } from '../kit/postfix.ts'
import type { Findings, Measurement } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions } from '../kit/scenario.ts'
import { ACCEPT_COLUMNS, measuredAccept, POSTFIX_CONNECTIONS } from './accept.ts'

export const batch: Scenario = {
  what: 'accept durably in batches of 100 while delivery is held',
  rounds: 5,
  count: 50_000,
  domainCount: 1,
  run,
}

const BATCH_COUNT = 100
const BATCH_CONNECTIONS = 8
/** Postfix needs no more to show its rate. */
const POSTFIX_COUNT = 10_000

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, domainCount, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const peer = postfix(folder, { signing: false })
  const ours = [false, true].map(distinct =>
    mailhorn(folder, { signingSlots, batch: { size: BATCH_COUNT, distinct }, profiles }),
  )
  const measurements = await inTurns(options, [peer, ...ours], async contender => {
    const count = contender === peer ? Math.min(options.count, POSTFIX_COUNT) : options.count
    const tried: Measurement['figures'][] = []
    for (const connections of contender === peer ? POSTFIX_CONNECTIONS : [BATCH_CONNECTIONS])
      tried.push(await measuredAccept(contender, { count, connections, domainCount }))
    return tried.reduce((a, b) => (a.acceptedPerSecond! >= b.acceptedPerSecond! ? a : b))
  })
  await unbound.end()
  return { columns: ACCEPT_COLUMNS, measurements }
}
