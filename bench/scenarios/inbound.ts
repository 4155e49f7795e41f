/**
 * Received durably at port 25, until 250, over connections that carry many messages, and over one for each: next to Postfix,
 * which puts all of it on hold. We read, judge and list it besides, as far as there is room, and afterwards.
 */
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Contender } from '../kit/contender.ts'
import { feedSmtp } from '../kit/feed-smtp.ts'
import { SMTP_CONNECTIONS } from '../kit/load.ts'
import { SENDER_DOMAIN } from '../kit/message.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { postfix } from '../kit/postfix.ts'
import { posthorn } from '../kit/posthorn.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions } from '../kit/scenario.ts'
import { ACCEPT_COLUMNS, measuredAccept } from './accept.ts'

export const inbound: Scenario = {
  what: 'receive durably at port 25, 20 sessions: 100 messages a connection, and one',
  rounds: 5,
  count: 10_000,
  domainCount: 1,
  run,
}

const PORT = 2590
const TO = `u@${SENDER_DOMAIN}`
/** What our port 25 lets one connection carry. */
const WAYS = [
  ['reused', 100],
  ['new each', 1],
] as const
const COLUMNS: Column[] = [
  ...ACCEPT_COLUMNS.map(column =>
    column.figure === 'acceptedPerSecond'
      ? { ...column, against: WAYS.map(([way]) => `Postfix, ${way}`) }
      : column,
  ),
  { figure: 'settledSeconds', title: 'all listed after, s', digits: 1 },
  { figure: 'cpuSecondsPer1000InAll', title: 'CPU s/1,000 until then', digits: 2 },
]
const LOOK_EVERY_MS = 100

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, domainCount, profiles } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const measurements: Measurement[] = []
  for (const [way, perConnection] of WAYS) {
    const named = (contender: Contender): Contender => ({ ...contender, name: `${contender.name}, ${way}` })
    const contenders = [
      named(postfix(folder, { signing: false, to: TO, perConnection, isDistinct: true })),
      named(receiving(folder, perConnection, profiles)),
    ]
    measurements.push(
      ...(await inTurns(options, contenders, contender =>
        measuredAccept(contender, { count, connections: SMTP_CONNECTIONS, domainCount }),
      )),
    )
  }
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

/** Posthorn with its port 25: what it takes is listed meanwhile, as it is for users. */
function receiving(folder: string, perConnection: number, profiles: string | undefined): Contender {
  const env = { POSTHORN_SMTP_INBOUND_CONNECTIONS_PER_MINUTE: '0', POSTHORN_SMTP_INBOUND_MTA_STS: 'off' }
  const ours = posthorn(folder, { signingSlots: [3], profiles, env })
  const count = (condition: string) => {
    const database = new Database(ours.databaseFile(), { readonly: true })
    const row = database.prepare(`select count(*) as count from inbound_messages where ${condition}`).get()
    database.close()
    return (row as { count: number }).count
  }
  return {
    ...ours,
    name: 'Posthorn',
    start: how => ours.start({ ...how, held: false }),
    feed: options => feedSmtp({ ...options, port: PORT, to: TO, perConnection, isDistinct: true }),
    queuedCount: () => count('1'),
    async settled() {
      while (count('listed_at is null') > 0) await pause(LOOK_EVERY_MS)
    },
  }
}
