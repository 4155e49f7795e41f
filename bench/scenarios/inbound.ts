/**
 * Received durably at port 25, until 250, over connections that carry many messages, and over one for each,
 * by two feeds: next to Postfix, which puts all of it on hold. We read, judge and list it besides, as far as
 * there is room, and afterwards.
 */
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Contender } from '../kit/contender.ts'
import { feedByEither } from '../kit/feed-smtp-source.ts'
import { SMTP_CONNECTIONS } from '../kit/load.ts'
import { mailhorn } from '../kit/mailhorn.ts'
import { SENDER_DOMAIN } from '../kit/message.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { BY_SMTP_SOURCE, type FedHow, postfix } from '../kit/postfix.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions } from '../kit/scenario.ts'
import { ACCEPT_COLUMNS, measuredAccept } from './accept.ts'

export const inbound: Scenario = {
  what: 'receive durably at port 25, 20 sessions: connections that are kept, and one for each message',
  rounds: 5,
  count: 10_000,
  domainCount: 1,
  run,
}

const PORT = 2590
const TO = `u@${SENDER_DOMAIN}`
const WAYS = [
  ['reused', 0],
  ['new each', 1],
] as const
const FEEDS = ['', BY_SMTP_SOURCE]
const COLUMNS: Column[] = [
  ...ACCEPT_COLUMNS.map(column =>
    column.figure === 'acceptedPerSecond'
      ? { ...column, against: WAYS.flatMap(([way]) => FEEDS.map(feed => `Postfix, ${way}${feed}`)) }
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
    const contenders = FEEDS.flatMap(feed => {
      const named = (name: string, contender: Contender) => ({ ...contender, name: `${name}, ${way}${feed}` })
      const how = { to: TO, perConnection, isDistinct: true, bySmtpSource: feed === BY_SMTP_SOURCE }
      return [
        named('Postfix', postfix(folder, { signing: false, ...how })),
        named('Mailhorn', receiving(folder, how, profiles)),
      ]
    })
    measurements.push(
      ...(await inTurns(options, contenders, contender =>
        measuredAccept(contender, { count, connections: SMTP_CONNECTIONS, domainCount }),
      )),
    )
  }
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

/** Mailhorn with its port 25: what it takes is listed meanwhile, as it is for users. */
function receiving(folder: string, how: FedHow, profiles: string | undefined): Contender {
  const env = { MAILHORN_SMTP_INBOUND_CONNECTIONS_PER_MINUTE: '0', MAILHORN_SMTP_INBOUND_MTA_STS: 'off' }
  const ours = mailhorn(folder, { signingSlots: [3], profiles, env })
  const count = (condition: string) => {
    const database = new Database(ours.databaseFile(), { readonly: true })
    const row = database.prepare(`select count(*) as count from inbound_messages where ${condition}`).get()
    database.close()
    return (row as { count: number }).count
  }
  return {
    ...ours,
    start: options => ours.start({ ...options, held: false }),
    feed: options => feedByEither({ ...options, ...how, port: PORT, folder }),
    queuedCount: () => count('1'),
    async settled() {
      while (count('listed_at is null') > 0) await pause(LOOK_EVERY_MS)
    },
  }
}
