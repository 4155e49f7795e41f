/** Counts the fsync calls of a server per message, under strace, so that its times mean nothing. */
import { join } from 'node:path'
import type { Contender, FeedOptions } from '../kit/contender.ts'
import { HTTP_CONNECTIONS, SMTP_CONNECTIONS } from '../kit/load.ts'
import { mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { postfix } from '../kit/postfix.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { withSink } from '../kit/sink.ts'
import { syncCount } from '../kit/sync-trace.ts'

export const syncs: Scenario = {
  what: 'fsyncs a message, under strace',
  rounds: 1,
  count: 2_000,
  domainCount: 1,
  run,
}

const COLUMNS: Column[] = [
  { figure: 'acceptOne', title: 'accept, 1 connection', digits: 3 },
  { figure: 'acceptMany', title: 'accept, many connections', digits: 3 },
  { figure: 'deliver', title: 'accept and deliver, many connections', digits: 3 },
]
/** One connection at a time is slow. */
const ONE_CONNECTION_COUNT = 200

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, domainCount, signingSlots } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const ours = mailhorn(folder, { signingSlots })
  const measurements = await inTurns(options, [postfix(folder, { signing: true }), ours], async contender => {
    const one: FeedOptions = { count: ONE_CONNECTION_COUNT, connections: 1, domainCount }
    const many = { count, connections: contender === ours ? HTTP_CONNECTIONS : SMTP_CONNECTIONS, domainCount }
    return {
      acceptOne: await counted(contender, folder, { held: true, load: one }),
      acceptMany: await counted(contender, folder, { held: true, load: many }),
      deliver: await counted(contender, folder, { held: false, load: many }),
    } satisfies Measurement['figures']
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function counted(
  contender: Contender,
  folder: string,
  { held, load }: { held: boolean; load: FeedOptions },
): Promise<number> {
  const syncTrace = join(folder, `syncs.${Date.now()}`)
  return withSink(folder, sink =>
    withStarted(contender, { held, syncTrace }, async () => {
      const before = syncCount(syncTrace)
      await contender.feed(load)
      if (!held) await sink.reached(load.count)
      return (syncCount(syncTrace) - before) / load.count
    }),
  )
}
