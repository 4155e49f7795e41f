/** The operator's view of a queue of a million, and what the service weighs meanwhile. */
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createIdSource, type Id } from '../../src/lib/ids.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { destination, prepareNetwork } from '../kit/namespace.ts'
import { median, percentile } from '../kit/numbers.ts'
import type { Column, Findings } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'

export const queue: Scenario = {
  what: 'look at a long queue, as the dashboard does',
  rounds: 1,
  count: 1_000_000,
  domainCount: 1_000,
  run,
}

const COLUMNS: Column[] = [
  { figure: 'firstMs', title: 'the first look, ms', digits: 0 },
  { figure: 'medianMs', title: 'those after it, median, ms', digits: 1 },
  { figure: 'p95Ms', title: 'p95, ms', digits: 1 },
  { figure: 'maxMs', title: 'most, ms', digits: 0 },
  { figure: 'rssMb', title: 'RSS, MB', digits: 0 },
  { figure: 'deliveringRssMb', title: 'RSS with delivery, MB', digits: 0 },
]

const LOOKS = 300
/** Interval between requests. Together they take longer than a cached result of the queue is valid. */
const BETWEEN_MS = 100
const QUESTIONS = ['', '?by=destination', '?domain=', '?offset=500']
const HOUR_MS = 3_600_000
const SETTLES_MS = 10_000

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, signingSlots, profiles, domainCount, count } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const ours = mailhorn(folder, { signingSlots, profiles })
  const measurements = await inTurns(options, [ours], () =>
    withStarted(ours, { held: true }, async () => {
      fill(ours.databaseFile(), { count, domainCount })
      const looked = await check(ours, count)
      const rssMb = ours.weigh().rssBytes / 2 ** 20
      await ours.release()
      await pause(SETTLES_MS)
      return { ...looked, rssMb, deliveringRssMb: ours.weigh().rssBytes / 2 ** 20 }
    }),
  )
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function check(ours: MailhornContender, count: number) {
  const { url, admin } = ours.access()
  const login = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
  })
  const { token } = (await login.json()) as { token: string }
  const ask = async (question: string) => {
    const beganAt = performance.now()
    const response = await fetch(`${url}/queue${question}`, { headers: { authorization: `Bearer ${token}` } })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`/queue${question}: ${response.status} ${text}`)
    return { ms: performance.now() - beganAt, totals: (JSON.parse(text) as { totals: Totals }).totals }
  }
  const first = await ask('')
  if (first.totals.deferred !== count) throw new Error(`${first.totals.deferred} of ${count} are seen`)
  const times: number[] = []
  for (let i = 0; i < LOOKS; i++) {
    const question = QUESTIONS[i % QUESTIONS.length]!
    times.push((await ask(question.endsWith('=') ? question + destination(i) : question)).ms)
    await pause(BETWEEN_MS)
  }
  return {
    firstMs: first.ms,
    medianMs: median(times),
    p95Ms: percentile(times, 0.95),
    maxMs: Math.max(...times),
  }
}

interface Totals {
  deferred: number
}

/** Deferred deliveries, one an email, their domains in turn, that are not due while they are looked at. */
function fill(file: string, { count, domainCount }: { count: number; domainCount: number }) {
  const database = new Database(file, { timeout: 10_000 })
  database.pragma('synchronous = OFF')
  const newId = createIdSource()
  const { accountId } = database.prepare('select id as "accountId" from accounts').get() as { accountId: Id }
  const insert = database.prepare(`
    insert into deliveries (email_id, ordinal, account_id, address, domain, kind, class, state, status, attempts,
      next_at, expires_at)
    values (?, 0, ?, ?, ?, 'to', 2, 0, 'delivery_delayed', 1, ?, ?)`)
  const now = Date.now()
  database.transaction(() => {
    for (let i = 0; i < count; i++) {
      const at = now - 5 * HOUR_MS + Math.floor((i * 4 * HOUR_MS) / count)
      const domain = destination(i % domainCount)
      insert.run(newId(at), accountId, `recipient-${i}@${domain}`, domain, now + HOUR_MS, at + 48 * HOUR_MS)
    }
  })()
  database.close()
}
