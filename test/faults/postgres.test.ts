import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Cluster, startCluster } from '../kit/cluster.ts'
import { postgresDatabase, type TestDatabase } from '../kit/database.ts'
import { type Program, printedApiKey, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { FROM_DOMAIN, firstStart, openScene, type Scene } from './scene.ts'
import { createSenders, type Senders } from './senders.ts'

const test = suite('faults on PostgreSQL', { limitMs: 280_000 })
const CYCLES = Number(process.env.KILL_CYCLES ?? 3)
const CLIENT_COUNT = 20
/** State of a delivery with an attempt in progress. */
const LEASED = 1

interface Stage extends Scene {
  cluster: Cluster
  database: TestDatabase
  program: Program
  apiKey: string
  senders: Senders
}

/** The program on a server that keeps what it has confirmed, and clients that load it. */
async function openStage(t: TestContext): Promise<Stage> {
  const cluster = await t.using(startCluster({ fsync: true }))
  const database = postgresDatabase(cluster.url())
  const scene = await openScene(t)
  Object.assign(scene.settings, { DATABASE_URL: database.url })
  const program = await firstStart(scene)
  const apiKey = printedApiKey(program)
  const senders = createSenders({
    apiKey,
    clientCount: CLIENT_COUNT,
    from: `ann@${FROM_DOMAIN}`,
    recipientOf: number => `ok-${number}@there.example`,
  })
  return { ...scene, rows: database.rows, cluster, database, program, apiKey, senders }
}

/** One email each in spite of repetitions, each with one end, and sums that are right. */
function requireSoundness({ rows, senders: { wanted } }: Stage) {
  const count = wanted.length
  assert.ok(count > CYCLES * CLIENT_COUNT, `${count} emails are no load`)
  for (const { id, number } of wanted) assert.ok(id, `email ${number} was never taken`)
  assert.equal(rows('select status, count(*) as count from deliveries group by status'), [
    { status: 'delivered', count },
  ])
  assert.equal(rows('select status, count(*) as count from emails group by status'), [
    { status: 'delivered', count },
  ])
  assert.equal(rows("select count(*) as count from events where type = 'email.delivered'"), [{ count }])
  assert.equal(rows("select count(*) as count from attempts where outcome = 'delivered'"), [{ count }])
  assert.equal(rows("select kind, count from counters where kind like 'emails.%' and count <> 0"), [
    { kind: 'emails.delivered', count },
  ])
  assert.equal(rows('select count(*) as count from idempotency_keys'), [{ count }])
}

/** Returns how often the MX accepted mail for each recipient. */
function takenBy({ ledger }: Scene): Map<string, number> {
  const taken = new Map<string, number>()
  for (const { recipient } of ledger()) taken.set(recipient, (taken.get(recipient) ?? 0) + 1)
  return taken
}

async function drained({ rows }: Stage) {
  await until(() => rows('select 1 from deliveries where state <> 2 limit 1').length === 0)
}

/** Each stands for one attempt: `address number`. */
function namesOf(leases: readonly { address: string; attempt: number }[]): string[] {
  return leases.map(({ address, attempt }) => `${address} ${attempt}`)
}

/** Leases that somebody holds, or held when he died. */
function leased({ rows }: Pick<Stage, 'rows'>): string[] {
  return namesOf(rows(`select address, attempts as attempt from deliveries where state = ${LEASED}`))
}

/**
 * Waits until the server has ended the sessions of the killed process, so that none of its statements is
 * pending.
 */
async function silent({ rows }: Stage) {
  const sessions =
    "select 1 from pg_stat_activity where datname = current_database() and application_name = 'mailhorn'"
  await until(() => rows(sessions).length === 0)
}

/** Attempts of which nobody knows the end, since whoever made them lost their leases. */
function unknownAttempts({ rows }: Stage): string[] {
  return namesOf(
    rows(
      `select d.address, a.number as attempt from attempts a
       join deliveries d on d.email_id = a.email_id and d.ordinal = a.ordinal where a.outcome = 'unknown'`,
    ),
  )
}

/**
 * Every email came once, and once more at most for each attempt that was under way when its maker was gone.
 */
function requireCopies(stage: Stage, lost: Iterable<string>) {
  const copies = new Map<string, number>()
  for (const lease of lost) {
    const [address] = lease.split(' ')
    copies.set(address!, (copies.get(address!) ?? 0) + 1)
  }
  const taken = takenBy(stage)
  for (const { recipient, id } of stage.senders.wanted) {
    const times = taken.get(recipient) ?? 0
    assert.ok(times >= 1, `${id}, which was answered with 200, is lost`)
    assert.ok(times <= 1 + (copies.get(recipient) ?? 0), `${id} was delivered ${times} times`)
  }
}

test(`killed ${CYCLES} times under load: nothing is lost, and no lease is completed by who held it before`, async t => {
  const stage = await openStage(t)
  const { senders, ledger } = stage
  const lost = new Set<string>()
  let { program } = stage
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const sending = senders.sendUntilCut(program.baseUrl)
    await until(() => ledger().length > (cycle + 1) * CLIENT_COUNT * 3)
    await program.end('SIGKILL')
    await sending
    await silent(stage)
    for (const lease of leased(stage)) lost.add(lease)
    program = await stage.start()
  }
  await senders.repeatUnanswered(program.baseUrl)
  await drained(stage)

  requireSoundness(stage)
  requireCopies(stage, lost)
  assert.ok(lost.size > 0, 'it was killed while nothing was under way')
  assert.equal(unknownAttempts(stage).sort(), [...lost].sort())
})

/** Waits until the server has carried out the statements that a stopped process had sent. */
async function carriedOut({ rows }: Stage) {
  const active =
    "select 1 from pg_stat_activity where datname = current_database() and application_name = 'mailhorn' " +
    "and state = 'active' and wait_event_type is distinct from 'Lock'"
  await until(() => rows(active).length === 0)
}

test('stopped for longer than its leases are good, a process finds them in other hands and ends none of them', async t => {
  const stage = await openStage(t)
  const { senders, program, dataDir, settings, ledger } = stage
  const sending = senders.sendUntilCut(program.baseUrl)
  await until(() => ledger().length > CLIENT_COUNT * 3 && leased(stage).length > 0)
  process.kill(program.pid, 'SIGSTOP')
  await carriedOut(stage)
  const held = leased(stage)

  const elsewhere = `${dataDir}-elsewhere`
  mkdirSync(elsewhere, { mode: 0o700 })
  copyFileSync(join(dataDir, 'secret.key'), join(elsewhere, 'secret.key'))
  const other = await t.using(startProgram({ dataDir: elsewhere, settings }))
  await drained(stage)
  assert.equal(unknownAttempts(stage).sort(), held.sort())

  process.kill(program.pid, 'SIGCONT')
  await program.end('SIGTERM')
  await sending
  await senders.repeatUnanswered(other.baseUrl)
  await drained(stage)
  requireSoundness(stage)
  requireCopies(stage, held)
  assert.equal(unknownAttempts(stage).sort(), held.sort())
})

test(`its database restarted ${CYCLES} times under load: what is asked meanwhile is refused, and nothing is lost or done twice`, async t => {
  const stage = await openStage(t)
  const { senders, cluster, program, ledger } = stage
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const sending = senders.sendUntilCut(program.baseUrl)
    await until(() => ledger().length > (cycle + 1) * CLIENT_COUNT * 3)
    await cluster.stop(cycle % 2 === 0 ? 'fast' : 'immediate')
    await sending
    const body = { from: `ann@${FROM_DOMAIN}`, to: 'never@there.example', subject: 's', text: 't' }
    const refused = await program.call('POST', '/emails', { token: stage.apiKey, body })
    assert.is(refused.status, 503)
    await until(async () => (await program.call('GET', '/readyz')).status === 503)
    await cluster.start()
    await until(async () => (await program.call('GET', '/readyz')).status === 200)
  }
  await senders.repeatUnanswered(program.baseUrl)
  await drained(stage)

  requireSoundness(stage)
  const taken = takenBy(stage)
  assert.equal(
    senders.wanted.filter(({ recipient }) => taken.get(recipient) !== 1),
    [],
  )
})

test.run()
