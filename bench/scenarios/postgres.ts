/**
 * Mailhorn on PostgreSQL, whose server shares the machine: what group commit brings, how fast deliveries are
 * leased, and everything together next to Mailhorn on SQLite.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { createIdSource, type Id } from '../../src/lib/ids.ts'
import type { AcceptInput } from '../../src/pipeline/accept/commit.ts'
import { createRecentEmails } from '../../src/store/model/recent.ts'
import { DELIVERY_CLASS } from '../../src/store/model/schema.ts'
import { readPostgresUrl } from '../../src/store/postgres/address.ts'
import { readColumnTypes } from '../../src/store/postgres/column-types.ts'
import { openPool, WRITING } from '../../src/store/postgres/connection.ts'
import { groupsOver, openPostgresWriting } from '../../src/store/postgres/writing.ts'
import { commands } from '../../src/workers/commands.ts'
import { type Cluster, startCluster } from '../../test/kit/cluster.ts'
import { HTTP_CONNECTIONS, WARM_UP_COUNT } from '../kit/load.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { destination, prepareNetwork } from '../kit/namespace.ts'
import { weigh } from '../kit/process.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { type Sink, withSink } from '../kit/sink.ts'

export const postgres: Scenario = {
  what: 'on PostgreSQL: accept in groups and one by one, claim, and all of it next to SQLite',
  rounds: 3,
  count: 5_000,
  domainCount: 100,
  run,
}

const GROUPED = 'accepted in groups, 2 connections'
const SINGLE = 'accepted one by one, 8 connections'
const CLAIMED = 'claimed'
const SINGLE_CONNECTIONS = 8
const IN_FLIGHT = 64
const QUEUED = 100_000
const CLAIMS = 100
/** Number of queue keys per claim, as when much is due. */
const LANES = 10
const CLAIM_LIMIT = 100
const CLAIMERS = 4

const COLUMNS: Column[] = [
  { figure: 'perSecond', title: 'emails or deliveries/s', digits: 0, against: [SINGLE, 'Mailhorn'] },
  { figure: 'cpuSecondsPer1000', title: 'CPU s/1,000, Mailhorn', digits: 2 },
  { figure: 'databaseCpuSecondsPer1000', title: 'PostgreSQL', digits: 2 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, rounds, count, domainCount, signingSlots, profiles, only } = options
  const unbound = await prepareNetwork(folder, 1)
  const cluster = await startCluster({ fsync: true })
  const measurements: Measurement[] = []
  const add = (contender: string, figures: Measurement['figures'], round: number) => {
    measurements.push({ contender, figures })
    console.log(JSON.stringify({ round, contender, ...figures }))
  }
  const wanted = (name: string) => only === undefined || name.includes(only)
  const create = () =>
    `postgres://postgres@127.0.0.1:${new URL(cluster.url()).port}/${createDatabase(cluster)}`
  const contenders = [
    mailhorn(folder, { signingSlots, profiles }),
    mailhorn(folder, { signingSlots, profiles, databases: { create } }),
  ]
  for (let round = 1; round <= rounds; round++) {
    if (wanted(GROUPED)) add(GROUPED, await accepted(cluster, create(), count, true), round)
    if (wanted(SINGLE)) add(SINGLE, await accepted(cluster, create(), count, false), round)
    if (wanted(CLAIMED)) add(CLAIMED, await claimed(cluster, create(), domainCount), round)
    for (const contender of contenders)
      if (wanted(contender.name))
        await withSink(folder, sink =>
          withStarted(contender, { held: false }, async () =>
            add(contender.name, await endToEnd(contender, sink, cluster, count), round),
          ),
        )
  }
  await cluster.close()
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

let databaseCount = 0

/** The program makes the database's tables itself. */
function createDatabase(cluster: Cluster): string {
  const name = `bench_${++databaseCount}`
  cluster.sql(`create database ${name}`)
  return name
}

/** Emails by the accept command: as the writer groups them, or each in a transaction of its own. */
async function accepted(cluster: Cluster, url: string, count: number, isGrouped: boolean) {
  const address = readPostgresUrl(url)
  const options = { commands, recent: createRecentEmails(), newId: createIdSource() }
  const writing = await openPostgresWriting(address, options, Date.now())
  const pool = openPool(address, { size: SINGLE_CONNECTIONS, settings: WRITING })
  const singles = groupsOver(pool, await readColumnTypes(pool.query), options)
  const makeInput = inputs()
  let waiting: { input: AcceptInput; done(): void }[] = []
  let running = 0
  /** Two groups at once, each of what has gathered. */
  const pump = () => {
    while (running < writing.groupsAtOnce && waiting.length > 0) {
      const group = waiting
      waiting = []
      running++
      void writing
        .run(group.map(({ input }, seq) => ({ seq, name: 'accept', input })))
        .then(({ replies }) => {
          for (const reply of replies) if (!reply.ok) throw new Error(reply.message)
          running--
          for (const { done } of group) done()
          pump()
        })
    }
  }
  const send = async () => {
    const input = makeInput()
    if (!isGrouped) {
      const { replies } = await singles.run([{ seq: 1, name: 'accept', input }])
      if (!replies[0]!.ok) throw new Error(replies[0]!.message)
      return
    }
    await new Promise<void>(done => {
      waiting.push({ input, done })
      setImmediate(pump)
    })
  }
  await inFlight(WARM_UP_COUNT, send)
  const figures = await weighed(cluster, count, () => inFlight(count, send))
  await pool.close()
  await writing.close()
  return figures
}

/** Leases of a hundred deliveries a lane, several claims under way at a time. */
async function claimed(cluster: Cluster, url: string, domainCount: number) {
  const options = { commands, recent: createRecentEmails(), newId: createIdSource() }
  const writing = await openPostgresWriting(readPostgresUrl(url), options, Date.now())
  const accountId = createIdSource()(1)
  await fill(url, { accountId, count: QUEUED + CLAIMS * LANES * CLAIM_LIMIT, domainCount })
  let next = 0
  const claimer = async () => {
    while (next < CLAIMS) {
      const first = next++ * LANES
      const now = Date.now()
      const input = {
        lanes: Array.from({ length: LANES }, (_, i) => ({
          domain: destination((first + i) % domainCount),
          class: DELIVERY_CLASS.transactional,
          accountId,
          limit: CLAIM_LIMIT,
        })),
        owner: 'bench',
        now,
        leaseUntil: now + 30_000,
      }
      const [reply] = (await writing.run([{ seq: 1, name: 'claim', input }])).replies
      if (!reply!.ok) throw new Error(reply!.message)
    }
  }
  const figures = await weighed(cluster, CLAIMS * LANES * CLAIM_LIMIT, async () => {
    await Promise.all(Array.from({ length: CLAIMERS }, claimer))
  })
  await writing.close()
  return figures
}

async function endToEnd(contender: MailhornContender, sink: Sink, cluster: Cluster, count: number) {
  const load = { connections: HTTP_CONNECTIONS, domainCount: 1 }
  await contender.feed({ ...load, count: WARM_UP_COUNT })
  await sink.reached(WARM_UP_COUNT)
  await pause(1_000)
  const before = [contender.weigh().cpuSeconds, weigh([cluster.pid()]).cpuSeconds] as const
  const [{ beganAt }, deliveredAt] = await Promise.all([
    contender.feed({ ...load, count }),
    sink.reached(WARM_UP_COUNT + count),
  ])
  return {
    perSecond: (count * 1_000) / (deliveredAt - beganAt),
    cpuSecondsPer1000: ((contender.weigh().cpuSeconds - before[0]) * 1_000) / count,
    databaseCpuSecondsPer1000: ((weigh([cluster.pid()]).cpuSeconds - before[1]) * 1_000) / count,
  }
}

async function weighed(cluster: Cluster, count: number, work: () => Promise<void>) {
  const cpu = () => [weigh([process.pid]).cpuSeconds, weigh([cluster.pid()]).cpuSeconds] as const
  const before = cpu()
  const beganAt = performance.now()
  await work()
  const elapsedMs = performance.now() - beganAt
  const after = cpu()
  return {
    perSecond: (count * 1_000) / elapsedMs,
    cpuSecondsPer1000: ((after[0] - before[0]) * 1_000) / count,
    databaseCpuSecondsPer1000: ((after[1] - before[1]) * 1_000) / count,
  }
}

async function inFlight(count: number, act: () => Promise<void>): Promise<void> {
  let begun = 0
  const client = async () => {
    while (begun++ < count) await act()
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, client))
}

/** An email of some kilobytes to the simulator, which needs no registered domain. */
function inputs(): () => AcceptInput {
  const newId = createIdSource()
  const accountId = newId(1)
  const text = 'All work and no play makes a benchmark dull, and its text worth compressing. '.repeat(60)
  let count = 0
  return () => {
    const now = Date.now()
    const id = newId(now)
    return {
      sender: { accountId, apiKeyId: null, domain: null },
      now,
      idempotency: null,
      quota: null,
      feedbackRegions: [],
      linkTerms: [1, 2, 3, 4],
      batch: null,
      emails: [emailOf(accountId, id, now, `${text}${++count}`)],
    }
  }
}

function emailOf(accountId: Id, id: Id, now: number, text: string): AcceptInput['emails'][number] {
  const address = 'delivered@simulator.test'
  return {
    row: {
      accountId,
      id,
      apiKeyId: null,
      sender: '[{"address":"bench@here.test"}]',
      toList: `[{"address":"${address}"}]`,
      ccList: null,
      bccList: null,
      replyToList: null,
      subject: 'A benchmark',
      headers: null,
      attachments: null,
      tags: null,
      messageId: `<${Buffer.from(id).toString('hex')}@here.test>`,
      recipientCount: 1,
      createdAt: now,
      scheduledAt: null,
      openCount: 0,
      clickCount: 0,
      broadcastId: null,
      templateId: null,
      topicId: null,
    } as AcceptInput['emails'][number]['row'],
    fromDomain: 'here.test',
    content: { html: null, text },
    blobs: [],
    recipients: [{ address, domain: 'simulator.test', kind: 'to', simulated: true }],
    simulated: true,
    owesNotices: false,
    class: DELIVERY_CLASS.transactional,
    expiresAt: now + 48 * 3_600_000,
  }
}

/** Due deliveries, one an email, their domains in turn. */
async function fill(
  url: string,
  { accountId, count, domainCount }: { accountId: Id; count: number; domainCount: number },
): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(
    `insert into deliveries (email_id, ordinal, account_id, address, domain, kind, class, state, status, attempts,
       next_at, expires_at)
     select decode(lpad(to_hex(n), 32, '0'), 'hex'), 0, $1, 'r' || n || '@x.test',
       'd' || lpad((n % $2)::text, 4, '0') || '.test', 'to', 0, 0, 'queued', 0, n, 4102444800000
     from generate_series(1, $3::int) n`,
    [Buffer.from(accountId), domainCount, count],
  )
  await client.query('analyze deliveries')
  await client.end()
}
