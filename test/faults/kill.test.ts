import * as assert from 'uvu/assert'
import { type Program, printedApiKey } from '../kit/process.ts'
import { createRandom } from '../kit/random.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { FROM_DOMAIN, firstStart, type LedgerLine, openScene, PASSWORD, type Scene } from './scene.ts'
import { createSenders, type Wanted } from './senders.ts'

const test = suite('kill -9', { limitMs: 240_000 })
const CYCLES = Number(process.env.KILL_CYCLES ?? 3)
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000)
const CLIENT_COUNT = 20
const EARLIEST_MS = 300
const LATEST_MS = 2_000
/** State of a delivery with an attempt in progress. */
const LEASED = 1

/** Loads the program and kills it at some moment; the recipients whose attempts were under way then. */
async function killUnderLoad(scene: Scene, program: Program, sending: Promise<void>, afterMs: number) {
  const moment = setTimeout(() => process.kill(program.pid, 'SIGKILL'), afterMs)
  const end = await program.ended
  clearTimeout(moment)
  assert.is(end.signal, 'SIGKILL', end.output)
  await sending
  return scene.rowsLeft<{ address: string }>(`select address from deliveries where state = ${LEASED}`)
}

test(`${CYCLES} times under load (KILL_SEED=${SEED}): nothing is lost, only what was under way comes twice`, async t => {
  const scene = await openScene(t)
  const random = createRandom(SEED)
  let program = await firstStart(scene)
  const apiKey = printedApiKey(program)
  const senders = createSenders({
    apiKey,
    clientCount: CLIENT_COUNT,
    from: `ann@${FROM_DOMAIN}`,
    recipientOf: number => `ok-${number}@there.example`,
  })
  const underWay = new Map<string, number>()
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const afterMs = Math.round(EARLIEST_MS + random.next() * (LATEST_MS - EARLIEST_MS))
    const left = await killUnderLoad(scene, program, senders.sendUntilCut(program.baseUrl), afterMs)
    for (const { address } of left) underWay.set(address, (underWay.get(address) ?? 0) + 1)
    program = await scene.start()
    const warned = program.logs.find(({ event }) => event === 'deliveries_interrupted')
    assert.is(warned?.count ?? 0, left.length, 'every lease of the former life is void')
  }
  await senders.repeatUnanswered(program.baseUrl)
  await scene.drained()

  const { wanted } = senders
  assert.ok(wanted.length > CYCLES * CLIENT_COUNT, `${wanted.length} emails are no load`)
  requireDelivery(scene, wanted, underWay)
  requireSoundness(scene, wanted.length)
  await requireTrace(scene, program, apiKey, underWay)
  const doubles = scene.ledger().length - new Set(scene.ledger().map(({ recipient }) => recipient)).size
  console.log(`${wanted.length} emails, ${underWay.size} under way at kills, ${doubles} delivered twice`)
})

function requireDelivery({ ledger, rows }: Scene, wanted: readonly Wanted[], underWay: Map<string, number>) {
  const taken = Map.groupBy(ledger(), ({ recipient }) => recipient)
  for (const { id, recipient, number } of wanted) {
    assert.ok(id, `email ${number} was never taken`)
    const lines: LedgerLine[] = taken.get(recipient) ?? []
    assert.ok(lines.length >= 1, `${id}, which was answered with 200, is lost`)
    assert.ok(
      lines.length <= 1 + (underWay.get(recipient) ?? 0),
      `${id} was delivered ${lines.length} times, and was under way at ${underWay.get(recipient) ?? 0} kills`,
    )
    const messageId = `<${id.slice('eml_'.length)}@${FROM_DOMAIN}>`
    assert.equal([...new Set(lines.map(line => line.messageId))], [messageId])
  }
  const known = new Set(wanted.map(({ recipient }) => recipient))
  assert.equal(
    [...taken.keys()].filter(recipient => !known.has(recipient)),
    [],
  )
  assert.equal(rows('select status, count(*) as count from deliveries group by status'), [
    { status: 'delivered', count: wanted.length },
  ])
}

/**
 * One email each in spite of repetitions, one telling of each event, sums that are right, a file that is
 * whole.
 */
function requireSoundness({ rows }: Scene, count: number) {
  assert.equal(rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
  assert.equal(rows('pragma foreign_key_check'), [])
  assert.equal(rows('select status, count(*) as count from emails group by status'), [
    { status: 'delivered', count },
  ])
  assert.equal(
    rows("select type, count(*) as count from events where type like 'email.%' group by type order by type"),
    [
      { type: 'email.delivered', count },
      { type: 'email.sent', count },
    ],
  )
  assert.equal(rows("select kind, count from counters where kind like 'emails.%' and count <> 0"), [
    { kind: 'emails.delivered', count },
  ])
  assert.equal(rows('select count(*) as count from idempotency_keys'), [{ count }])
  assert.equal(rows('select sum(refs) as refs, count(*) as count from contents'), [{ refs: count, count }])
}

/** Requires that interrupted deliveries show an attempt of unknown outcome, and then a successful one. */
async function requireTrace({ rows }: Scene, program: Program, token: string, underWay: Map<string, number>) {
  const total = [...underWay.values()].reduce((sum, count) => sum + count, 0)
  assert.equal(rows("select count(*) as count from attempts where outcome = 'unknown'"), [{ count: total }])
  for (const [address, count] of [...underWay].slice(0, 5)) {
    const [email] = rows<{ id: string }>(
      'select lower(hex(email_id)) as id from deliveries where address = ?',
      address,
    )
    const uuid = email!.id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    const { body } = await program.call('GET', `/emails/${uuid}`, { token })
    assert.equal(
      body.recipients[0].transcripts.map(({ outcome }: { outcome: string }) => outcome),
      [...Array<string>(count).fill('unknown'), 'delivered'],
    )
  }
}

test('between the final dot and its reply: sent again with the same Message-ID, and only that', async t => {
  const scene = await openScene(t)
  const program = await firstStart(scene)
  const token = printedApiKey(program)
  const send = async (to: string) => {
    const body = { from: `ann@${FROM_DOMAIN}`, to, subject: 's', text: 't' }
    return (await program.call('POST', '/emails', { token, body })).body.id as string
  }
  const before = await send('ok@there.example')
  await until(() => scene.ledger().length === 1)
  await until(() => scene.rows('select 1 from emails where status = ?', 'delivered').length === 1)
  const caught = await send('slow-dot-2000@there.example')
  await scene.mx.until(/C: \(\d+ bytes of message\)/)
  await until(() => scene.mx.transcript.filter(line => /bytes of message/.test(line)).length === 2)
  await program.end('SIGKILL')
  const again = await scene.start()
  await until(
    async () => (await again.call('GET', `/emails/${caught}`, { token })).body.status === 'delivered',
  )
  const { body } = await again.call('GET', `/emails/${caught}`, { token })
  assert.equal(
    body.recipients[0].transcripts.map(({ outcome }: { outcome: string }) => outcome),
    ['unknown', 'delivered'],
  )
  const lines = scene.ledger()
  assert.is(lines.filter(({ recipient }) => recipient === 'ok@there.example').length, 1)
  const doubles = lines.filter(({ recipient }) => recipient === 'slow-dot-2000@there.example')
  assert.ok(doubles.length >= 1 && doubles.length <= 2)
  for (const { messageId } of doubles) assert.is(messageId, body.message_id)
  assert.is((await again.call('GET', `/emails/${before}`, { token })).body.recipients[0].attempts, 1)
})

test('between the final dot and its reply, where the operator wants to decide: held, and sent again by their word alone', async t => {
  const scene = await openScene(t)
  scene.settings.DELIVERY_UNKNOWN_OUTCOME = 'hold'
  const program = await firstStart(scene)
  const token = printedApiKey(program)
  const body = { from: `ann@${FROM_DOMAIN}`, to: 'slow-dot-2000@there.example', subject: 's', text: 't' }
  const { id } = (await program.call('POST', '/emails', { token, body })).body
  await scene.mx.until(/C: \(\d+ bytes of message\)/)
  await program.end('SIGKILL')
  const again = await scene.start()
  const held = () => scene.rows('select 1 from deliveries where state = 4').length
  await until(() => held() === 1)
  const commands = () => scene.mx.transcript.filter(line => /C: MAIL/.test(line)).length
  assert.is(commands(), 1)
  const signIn = { email: 'admin@mailhorn.test', password: PASSWORD }
  const session = (await again.call('POST', '/auth/login', { body: signIn })).body.token
  const release = { token: session, body: { email_id: id } }
  assert.is((await again.call('POST', '/queue/release', release)).body.released, true)
  await scene.drained()
  assert.is(commands(), 2)
  const { recipients } = (await again.call('GET', `/emails/${id}`, { token })).body
  assert.equal(
    recipients[0].transcripts.map(({ outcome }: { outcome: string }) => outcome),
    ['unknown', 'delivered'],
  )
})

test('during the first start: the next one begins anew or goes on, and shows its secrets', async t => {
  const scene = await openScene(t)
  const first = await scene.start()
  assert.ok(printedApiKey(first))
  await first.end('SIGKILL')
  const second = await scene.start()
  const { status } = await second.call('POST', '/emails', { token: printedApiKey(first), body: {} })
  assert.is(status, 422)
})

test.run()
