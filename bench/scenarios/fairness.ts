/**
 * Transactional mail, at a modest pace, beside a broadcast that waits for a large destination that is down.
 */
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createIdSource } from '../../src/lib/ids.ts'
import { DELIVERY_CLASS } from '../../src/store/model/schema.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { benchMessage, SENDER_DOMAIN } from '../kit/message.ts'
import { destination, ONE_ADDRESS, prepareNetwork } from '../kit/namespace.ts'
import { median, percentile } from '../kit/numbers.ts'
import type { Column, Findings } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { withSink } from '../kit/sink.ts'

export const fairness: Scenario = {
  what: 'transactional mail beside a broadcast that waits for a dead destination',
  rounds: 1,
  count: 200_000,
  domainCount: 2,
  run,
}

const SENDS = 1_000
const PACE_MS = 10
const WARM_UP_SENDS = 200

const COLUMNS: Column[] = [
  { figure: 'medianMs', title: 'from request to delivered, median, ms', digits: 1 },
  { figure: 'p99Ms', title: 'p99, ms', digits: 1 },
  { figure: 'waitingCount', title: 'broadcast still waiting', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, 2)
  const ours = mailhorn(folder, { signingSlots, profiles })
  const beside = { ...ours, name: `Mailhorn, ${count} broadcast deliveries waiting` }
  const contenders = [{ ...ours, name: 'Mailhorn, nothing waiting' }, beside]
  const measurements = await inTurns(options, contenders, contender =>
    withSink(
      folder,
      () =>
        withStarted(ours, { held: true }, async () => {
          if (contender === beside) await addBroadcast(ours, count)
          await ours.release()
          return measured(ours)
        }),
      ONE_ADDRESS,
    ),
  )
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function measured(ours: MailhornContender) {
  for (let i = 0; i < WARM_UP_SENDS; i++) await send(ours, 'one.test')
  const beganAt = Date.now()
  const sends: Promise<void>[] = []
  for (let i = 0; i < SENDS; i++) {
    sends.push(send(ours, 'one.test'))
    await pause(PACE_MS)
  }
  await Promise.all(sends)
  const database = new Database(ours.databaseFile(), { readonly: true })
  const read = database.prepare(
    `select a.finished_at - e.created_at as ms from emails e join attempts a on a.email_id = e.id
       where e.created_at >= ? and a.outcome = 'delivered'`,
  )
  let times: number[] = []
  for (const deadline = Date.now() + 120_000; times.length < SENDS; await pause(200)) {
    if (Date.now() > deadline) throw new Error(`${times.length} of ${SENDS} are delivered`)
    times = (read.all(beganAt) as { ms: number }[]).map(({ ms }) => ms)
  }
  const { waitingCount } = database
    .prepare(`select count(*) as "waitingCount" from deliveries where class <> 0 and state = 0`)
    .get() as { waitingCount: number }
  database.close()
  return { medianMs: median(times), p99Ms: percentile(times, 0.99), waitingCount }
}

async function send(ours: MailhornContender, domain: string) {
  const { url, apiKey } = ours.access()
  const { subject, html, text } = benchMessage()
  const response = await fetch(`${url}/emails`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ from: `news@${SENDER_DOMAIN}`, to: `u@${domain}`, subject, html, text }),
  })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

/** One email to a dead domain is accepted; the rest are copies of its rows, with ids of their own. */
async function addBroadcast(ours: MailhornContender, count: number) {
  await send(ours, destination(1))
  const database = new Database(ours.databaseFile(), { timeout: 10_000 })
  const newId = createIdSource()
  const columns = (table: string, idColumn: string) =>
    (database.pragma(`table_info(${table})`) as { name: string }[])
      .map(({ name }) => name)
      .filter(name => name !== idColumn)
      .join(', ')
  const copy = (table: string, idColumn: string) => {
    const others = columns(table, idColumn)
    return database.prepare(
      `insert into ${table} (${idColumn}, ${others}) select ?, ${others} from ${table} where account_id = ? and ${idColumn} = ?`,
    )
  }
  const copyEmail = copy('emails', 'id')
  const copyDelivery = copy('deliveries', 'email_id')
  const { id, accountId } = database
    .prepare('select email_id as id, account_id as accountId from deliveries')
    .get() as Record<'id' | 'accountId', Uint8Array>
  database.transaction(() => {
    for (let i = 1; i < count; i++) {
      const copyId = newId(Date.now())
      copyEmail.run(copyId, accountId, id)
      copyDelivery.run(copyId, accountId, id)
    }
    database.prepare('update deliveries set class = ?').run(DELIVERY_CLASS.broadcast)
    database.prepare('update contents set refs = ?').run(count)
  })()
  database.close()
}
