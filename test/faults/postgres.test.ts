import * as assert from 'uvu/assert'
import { type Cluster, startCluster } from '../kit/cluster.ts'
import { postgresDatabase, type TestDatabase } from '../kit/database.ts'
import { type Program, printedApiKey } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { FROM_DOMAIN, firstStart, openScene, type Scene } from './scene.ts'
import { createSenders, type Senders } from './senders.ts'

const test = suite('faults on PostgreSQL', { limitMs: 280_000 })
const CYCLES = Number(process.env.KILL_CYCLES ?? 3)
const CLIENT_COUNT = 20
/** Of a delivery whose attempt is under way. */
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
function insistOnSoundness({ rows, senders: { wanted } }: Stage) {
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

/** How often the MX took mail for each recipient. */
function takenBy({ ledger }: Scene): Map<string, number> {
  const taken = new Map<string, number>()
  for (const { recipient } of ledger()) taken.set(recipient, (taken.get(recipient) ?? 0) + 1)
  return taken
}

async function drained({ rows }: Stage) {
  await until(() => rows('select 1 from deliveries where state <> 2 limit 1').length === 0)
}

test(`killed ${CYCLES} times under load: nothing is lost, and no lease is completed by who held it before`, async t => {
  const stage = await openStage(t)
  const { senders, rows, ledger } = stage
  const underWay = new Map<string, number>()
  const leases = new Set<string>()
  let { program } = stage
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const sending = senders.sendUntilCut(program.baseUrl)
    await until(() => ledger().length > (cycle + 1) * CLIENT_COUNT * 3)
    await program.end('SIGKILL')
    await sending
    for (const { address, attempts } of rows<{ address: string; attempts: number }>(
      `select address, attempts from deliveries where state = ${LEASED}`,
    ))
      if (!leases.has(`${address} ${attempts}`)) {
        leases.add(`${address} ${attempts}`)
        underWay.set(address, (underWay.get(address) ?? 0) + 1)
      }
    program = await stage.start()
  }
  await senders.repeatUnanswered(program.baseUrl)
  await drained(stage)

  insistOnSoundness(stage)
  const taken = takenBy(stage)
  for (const { recipient, id } of senders.wanted) {
    const times = taken.get(recipient) ?? 0
    assert.ok(times >= 1, `${id}, which was answered with 200, is lost`)
    assert.ok(times <= 1 + (underWay.get(recipient) ?? 0), `${id} was delivered ${times} times`)
  }
  assert.equal(rows("select count(*) as count from attempts where outcome = 'unknown'"), [
    { count: leases.size },
  ])
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

  insistOnSoundness(stage)
  const taken = takenBy(stage)
  assert.equal(
    senders.wanted.filter(({ recipient }) => taken.get(recipient) !== 1),
    [],
  )
})

test.run()
