/**
 * Events brought to an endpoint that keeps its connections, from the store to the record of its answer;
 * alone, beside bad ones, and of a million that wait.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { systemClock } from '../../src/lib/clock.ts'
import { createIdSource, type Id, wireId } from '../../src/lib/ids.ts'
import { createSecretKeys } from '../../src/lib/secret-keys.ts'
import { newSigningSecret, sealSecret } from '../../src/pipeline/webhooks/signature.ts'
import { openStore } from '../../src/store/opening/open.ts'
import type { ServiceCommands } from '../../src/workers/commands.ts'
import type { WebhookThreadData } from '../../src/workers/webhook.ts'
import type { HookCount } from '../kit/hook-sink.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import type { Scenario, ScenarioOptions } from '../kit/scenario.ts'

export const webhooks: Scenario = {
  what: 'tell an endpoint of many events',
  rounds: 3,
  count: 20_000,
  domainCount: 1,
  run,
}

const SECRET = new Uint8Array(32)
const BAD_COUNT = 50
const BAD_EVENTS = 100
const LOOK_EVERY_MS = 20
const STILL_FOR_MS = 30_000

const COLUMNS: Column[] = [
  { figure: 'perSecond', title: 'deliveries/s', digits: 0 },
  { figure: 'seconds', title: 'all, s', digits: 2 },
  { figure: 'rssMb', title: 'memory, MB', digits: 0 },
]

interface World {
  /**
   * Paths of the endpoints that are not well, as `hook-sink.ts` plays them; one that begins with `https`
   * finds no TLS.
   */
  bad: readonly string[]
  /** Events that wait for the endpoint that is well. */
  waiting(count: number): number
}

const KINDS = ['/hang', '/fail', '/reset', '/redirect', '/large', 'https']
const asMany = (count: number) => count
const WORLDS: Record<string, World> = {
  alone: { bad: [], waiting: asMany },
  [`beside ${BAD_COUNT} that hang`]: { bad: ['/hang'], waiting: asMany },
  [`beside ${BAD_COUNT} of all kinds`]: { bad: KINDS, waiting: asMany },
  'the first of 1,000,000': { bad: [], waiting: () => 1_000_000 },
}

async function run({ folder, count, rounds, only }: ScenarioOptions): Promise<Findings> {
  const measurements: Measurement[] = []
  for (const [contender, world] of Object.entries(WORLDS)) {
    if (only && !contender.includes(only)) continue
    for (let round = 1; round <= rounds; round++) {
      const dataDir = join(folder, `webhooks-${contender.replaceAll(/\W+/g, '-')}-${round}`)
      const figures = await measured(dataDir, count, world)
      measurements.push({ contender, figures })
      console.log(JSON.stringify({ round, contender, ...figures }))
    }
  }
  return { columns: COLUMNS, measurements }
}

async function measured(dataDir: string, count: number, { bad, waiting }: World) {
  const sink = new Worker(new URL('../kit/hook-sink.ts', import.meta.url))
  const [port] = (await once(sink, 'message')) as [number]
  const open = () =>
    openStore<ServiceCommands>({
      dataDir,
      url: 'sqlite:mailhorn.db',
      writerThread: new URL('../../src/workers/writer.ts', import.meta.url),
      clock: systemClock,
      onLoss(error) {
        throw error
      },
    })
  await (await open()).close()
  const database = new Database(join(dataDir, 'mailhorn.db'))
  for (let i = 0; bad.length > 0 && i < BAD_COUNT; i++) {
    const kind = bad[i % bad.length]!
    const url = kind === 'https' ? `https://127.0.0.1:${port}/` : `http://127.0.0.1:${port}${kind}`
    fill(database, url, BAD_EVENTS)
  }
  fill(database, `http://127.0.0.1:${port}/`, waiting(count))
  database.close()
  const store = await open()
  const writer = store.connectThread()
  const data: WebhookThreadData = {
    ...{ writer, location: store.location, secret: SECRET, mailHost: 'mailhorn.test' },
    ...{ resolvers: [], authorities: undefined, allowLoopback: true, allowInsecureLoopback: true },
    ...{ clockSeat: null, logLevel: 'error' },
  }
  const beganAt = performance.now()
  const thread = new Worker(new URL('../../src/workers/webhook.ts', import.meta.url), {
    workerData: data,
    transferList: [writer],
  })
  await allTaken(sink, count)
  const seconds = (performance.now() - beganAt) / 1_000
  const rssMb = process.memoryUsage.rss() / 1e6
  thread.postMessage('stop')
  await once(thread, 'exit')
  await sink.terminate()
  await store.close()
  return { perSecond: count / seconds, seconds, rssMb }
}

/** @throws when for a while nothing is taken: what fails is tried again for a day, and would be waited for */
async function allTaken(sink: Worker, count: number): Promise<void> {
  let [taken, stillSince] = [0, performance.now()]
  for (; taken < count; await pause(LOOK_EVERY_MS)) {
    sink.postMessage('count')
    const [told] = (await once(sink, 'message')) as [HookCount]
    if (told.taken > taken) stillSince = performance.now()
    else if (performance.now() - stillSince > STILL_FOR_MS)
      throw new Error(`the endpoint has taken ${taken} of ${count}, and nothing more for ${STILL_FOR_MS} ms`)
    taken = told.taken
  }
}

/** A webhook of an account of its own, and what waits for it. */
function fill(database: Database.Database, url: string, count: number): void {
  const newId = createIdSource()
  const now = Date.now()
  const [id, accountId] = [newId(now), newId(now)]
  const secret = sealSecret(createSecretKeys(SECRET), id, newSigningSecret())
  database
    .prepare(
      `insert into webhooks (id, account_id, url, events, secret, standard, enabled, notice_due, created_at)
       values (?, ?, ?, '["email.delivered"]', ?, 0, 1, 0, ?)`,
    )
    .run(id, accountId, url, secret, now)
  const insert = database.prepare(
    `insert into webhook_deliveries (webhook_id, id, account_id, event_id, event_type, body, is_test, state, success,
       attempts, next_at, created_at) values (?, ?, ?, ?, 'email.delivered', ?, 0, 0, 0, 0, ?, ?)`,
  )
  database.transaction(() => {
    for (let i = 0; i < count; i++) {
      const eventId = newId(now)
      insert.run(id, newId(now), accountId, eventId, bodyFor(eventId), now, now)
    }
  })()
}

/** Makes a payload as large as that of a real email. */
function bodyFor(id: Id): string {
  const data = {
    email_id: wireId('eml', id),
    subject: 'An order',
    to: ['rcpt@there.example'],
    filler: 'x'.repeat(500),
  }
  return JSON.stringify({ id: wireId('evt', id), type: 'email.delivered', data })
}
