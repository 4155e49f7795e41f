import * as assert from 'uvu/assert'
import type { Program } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { FROM_DOMAIN, firstStart, openScene, PASSWORD, type Scene } from './scene.ts'

/** `KILL_CYCLES=20 BROADCAST_CONTACTS=50000` for the real thing. */
const CYCLES = Number(process.env.KILL_CYCLES ?? 3)
const CONTACTS = Number(process.env.BROADCAST_CONTACTS ?? 3_000)
const test = suite('kill -9 in the middle of a broadcast', { limitMs: 120_000 + CONTACTS * 20 })
/** State of a delivery with an attempt in progress. */
const LEASED = 1
/** Every nth message is sent over SMTP; the others go to the simulator. */
const REAL_EVERY = 10
/** Members who are seen to together, as the program does it: a kill comes after so many more, or less. */
const SPREAD = 1.6

const addressOf = (i: number) =>
  i % REAL_EVERY === 0 ? `ok-${i}@there.example` : `delivered+${i}@simulator.test`

test(`${CYCLES} times among ${CONTACTS} contacts: each gets one email, and nobody none`, async t => {
  const scene = await openScene(t)
  let program = await firstStart(scene)
  const id = await startBroadcast(program)
  const underWay = new Map<string, number>()
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const goal = Math.floor((CONTACTS * (cycle + Math.random() * SPREAD)) / (CYCLES + SPREAD))
    await until(() => expandedOf(scene) >= goal)
    await program.end('SIGKILL')
    const left = scene.rowsLeft<{ address: string }>(`select address from deliveries where state = ${LEASED}`)
    for (const { address } of left) underWay.set(address, (underWay.get(address) ?? 0) + 1)
    program = await scene.start()
  }
  await until(() => scene.rows("select 1 from broadcasts where status = 'sent'").length === 1)
  await scene.drained()

  const wanted = new Set(Array.from({ length: CONTACTS }, (_, i) => addressOf(i)))
  const accepted = scene.rows<{ address: string }>('select address from deliveries')
  assert.is(accepted.length, CONTACTS, 'as many emails as contacts')
  assert.is(new Set(accepted.map(({ address }) => address)).size, CONTACTS, 'none of them twice')
  assert.ok(accepted.every(({ address }) => wanted.has(address)))
  requireDelivery(scene, underWay)
  const { body } = await program.call('GET', `/broadcasts/${id}`, { token: await signIn(program) })
  assert.equal(body.progress, { total: CONTACTS, expanded: CONTACTS, handed_over: CONTACTS })
  assert.is(body.counts.delivered, CONTACTS)
  assert.equal(scene.rows('select 1 from broadcast_pages'), [])
  assert.equal(scene.rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
  console.log(`${CONTACTS} contacts, ${CYCLES} kills, ${underWay.size} under way at kills`)
})

test('a broadcast that is to begin in some seconds begins after a kill, once, and one can be taken back', async t => {
  const scene = await openScene(t)
  let program = await firstStart(scene)
  let token = await signIn(program)
  const delayed = async (subject: string, delay_seconds: number): Promise<string> => {
    const id = await draftOf(program, subject)
    const { body } = await program.call('POST', `/broadcasts/${id}/send`, { token, body: { delay_seconds } })
    assert.is(body.status, 'scheduled')
    assert.is(body.undo_until, body.scheduled_at)
    return id
  }
  await delayed('kept', 5)
  const takenBack = await delayed('taken back', 3_600)
  const { undo_until } = (await program.call('GET', `/broadcasts/${takenBack}`, { token })).body
  await program.end('SIGKILL')
  program = await scene.start()
  token = await signIn(program)
  const after = await program.call('GET', `/broadcasts/${takenBack}`, { token })
  assert.is(after.body.undo_until, undo_until, 'a kill neither shortens nor forgets the time')
  const undone = await program.call('POST', `/broadcasts/${takenBack}/unschedule`, { token })
  assert.is(undone.body.status, 'draft')
  await program.end('SIGKILL')
  program = await scene.start()
  await until(() => scene.rows("select 1 from broadcasts where status = 'sent'").length === 1)
  assert.equal(scene.rows('select status from broadcasts order by id'), [
    { status: 'sent' },
    { status: 'draft' },
  ])
  assert.equal(scene.rows('select count(*) as count from deliveries'), [{ count: 2 }])
})

/** A draft to two contacts of the simulator. */
async function draftOf(program: Program, subject: string): Promise<string> {
  const token = await signIn(program)
  const { body: audience } = await program.call('POST', '/audiences', { token, body: { name: subject } })
  for (const name of ['ann', 'ben']) {
    const body = { email: `delivered+${name}@simulator.test` }
    await program.call('POST', `/audiences/${audience.id}/contacts`, { token, body })
  }
  const from = `ann@${FROM_DOMAIN}`
  const { status, body } = await program.call('POST', '/broadcasts', {
    ...{ token, body: { audience_id: audience.id, from, subject, text: 'Hi. {{unsubscribe_url}}' } },
  })
  assert.is(status, 201, JSON.stringify(body))
  return body.id
}

function requireDelivery({ ledger }: Scene, underWay: Map<string, number>) {
  const taken = Map.groupBy(ledger(), ({ recipient }) => recipient)
  for (let i = 0; i < CONTACTS; i += REAL_EVERY) {
    const address = addressOf(i)
    const times = taken.get(address)?.length ?? 0
    assert.ok(times >= 1, `${address} never got it`)
    assert.ok(times <= 1 + (underWay.get(address) ?? 0), `${address} got it ${times} times`)
  }
}

function expandedOf(scene: Scene): number {
  const [row] = scene.rows<{ count: number }>('select expanded_count as count from broadcasts')
  return row?.count ?? 0
}

async function signIn(program: Program): Promise<string> {
  const login = { email: 'admin@mailhorn.test', password: PASSWORD }
  return (await program.call('POST', '/auth/login', { body: login })).body.token
}

/** An audience of so many contacts, and a broadcast that is on its way to them. */
async function startBroadcast(program: Program): Promise<string> {
  const token = await signIn(program)
  const { body: audience } = await program.call('POST', '/audiences', { token, body: { name: 'all' } })
  const lines = Array.from({ length: CONTACTS }, (_, i) => `${addressOf(i)},N${i}`)
  const response = await fetch(`${program.baseUrl}/audiences/${audience.id}/contacts/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv' },
    body: `email,first_name\n${lines.join('\n')}\n`,
  })
  assert.is(response.status, 200, await response.text())
  const words = { subject: 'For {{first_name}}', text: 'Hi {{first_name}}. {{unsubscribe_url}}' }
  const { status, body } = await program.call('POST', '/broadcasts', {
    token,
    body: { audience_id: audience.id, from: `ann@${FROM_DOMAIN}`, ...words, send: true },
  })
  assert.is(status, 201, JSON.stringify(body))
  return body.id
}

test.run()
