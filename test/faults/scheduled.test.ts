import * as assert from 'uvu/assert'
import { type Program, printedApiKey } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { FROM_DOMAIN, firstStart, openScene, type Scene } from './scene.ts'

const test = suite('kill -9 around the time of scheduled mail', { limitMs: 120_000 })
const CYCLES = Number(process.env.KILL_CYCLES ?? 3)
/** Number of scheduled emails per cycle. */
const SCHEDULED_COUNT = 100
const SPREAD_MS = 1_000
/** Everything has been scheduled by then. */
const LEAD_MS = 3_000
/** Emails due so shortly before or after the kill are canceled meanwhile. */
const ABOUT_MS = 150
/** State of a delivery with an attempt in progress. */
const LEASED = 1

interface Scheduled {
  id: string
  recipient: string
  at: number
}

/** A batch with its times spread over the moments around a kill. */
async function schedule(program: Program, token: string, cycle: number, from: number): Promise<Scheduled[]> {
  const emails = Array.from({ length: SCHEDULED_COUNT }, (_, i) => ({
    recipient: `ok-${cycle}-${i}@there.example`,
    at: from + (i * SPREAD_MS) / SCHEDULED_COUNT,
  }))
  const { status, body } = await program.call('POST', '/emails/batch', {
    token,
    body: emails.map(({ recipient, at }) => ({
      from: `ann@${FROM_DOMAIN}`,
      to: recipient,
      subject: 's',
      text: 't',
      scheduled_at: new Date(at).toISOString(),
    })),
  })
  assert.is(status, 200, JSON.stringify(body))
  assert.ok(Date.now() < from, 'scheduling took longer than it may')
  return emails.map((email, i) => ({ ...email, id: body.data[i].id as string }))
}

/** True when it was said to be canceled, false when it was refused, undefined when no answer came. */
async function cancel(program: Program, token: string, { id }: Scheduled): Promise<boolean | undefined> {
  try {
    return (await program.call('POST', `/emails/${id}/cancel`, { token })).status === 200
  } catch {
    return undefined // the program was killed, which is what this test is for
  }
}

const deliveriesTo = ({ ledger }: Scene, { recipient }: Scheduled) =>
  ledger().filter(line => line.recipient === recipient).length

test(`${CYCLES} times: each is sent or canceled, and only what was under way comes twice`, async t => {
  const scene = await openScene(t)
  let program = await firstStart(scene)
  const token = printedApiKey(program)
  const scheduled: Scheduled[] = []
  const message = new Map<Scheduled, boolean | undefined>()
  const underWay = new Map<string, number>()
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const from = Date.now() + LEAD_MS
    const emails = await schedule(program, token, cycle, from)
    scheduled.push(...emails)
    const moment = from + SPREAD_MS / 2
    await until(() => Date.now() >= moment - ABOUT_MS)
    const about = emails.filter(({ at }) => Math.abs(at - moment) < ABOUT_MS)
    const canceling = about.map(async email => message.set(email, await cancel(program, token, email)))
    await Promise.race(canceling)
    await program.end('SIGKILL')
    await Promise.all(canceling)
    const left = scene.rowsLeft<{ address: string }>(`select address from deliveries where state = ${LEASED}`)
    for (const { address } of left) underWay.set(address, (underWay.get(address) ?? 0) + 1)
    program = await scene.start()
  }
  await scene.drained()

  const canceled = new Set(
    scene
      .rows<{ address: string }>("select address from deliveries where status = 'canceled'")
      .map(({ address }) => address),
  )
  for (const email of scheduled) {
    const isCanceled = canceled.has(email.recipient)
    if (message.get(email) !== undefined) assert.is(isCanceled, message.get(email), email.id)
    const times = deliveriesTo(scene, email)
    if (isCanceled) assert.is(times, 0, `${email.id} was canceled and sent ${times} times`)
    else {
      assert.ok(times >= 1, `${email.id} is lost`)
      assert.ok(times <= 1 + (underWay.get(email.recipient) ?? 0), `${email.id} was sent ${times} times`)
    }
  }
  requireSoundness(scene, scheduled.length, canceled.size)
  assert.ok(canceled.size > 0 && canceled.size < scheduled.length, `${canceled.size} were canceled`)
  console.log(`${scheduled.length} scheduled, ${canceled.size} canceled, ${underWay.size} under way at kills`)
})

test('what became due while nothing ran goes out at the next start', async t => {
  const scene = await openScene(t)
  const program = await firstStart(scene)
  const token = printedApiKey(program)
  const body = { from: `ann@${FROM_DOMAIN}`, to: 'ok@there.example', subject: 's', text: 't' }
  const at = Date.now() + 1_500
  const send = { token, body: { ...body, scheduled_at: new Date(at).toISOString() } }
  const { body: answer } = await program.call('POST', '/emails', send)
  await program.end('SIGKILL')
  assert.equal(scene.ledger(), [])
  await until(() => Date.now() > at)
  const again = await scene.start()
  await until(
    async () => (await again.call('GET', `/emails/${answer.id}`, { token })).body.status === 'delivered',
  )
  assert.is(scene.ledger().length, 1)
})

/** One telling of each event, sums that are right, a file that is whole. */
function requireSoundness({ rows }: Scene, count: number, canceledCount: number) {
  const sentCount = count - canceledCount
  assert.equal(rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
  const expected = { canceled: canceledCount, delivered: sentCount }
  assert.equal(
    Object.fromEntries(
      rows<{ status: string; count: number }>(
        'select status, count(*) as count from emails group by status order by status',
      ).map(row => [row.status, row.count]),
    ),
    expected,
  )
  assert.equal(
    Object.fromEntries(
      rows<{ kind: string; count: number }>(
        "select kind, count from counters where kind like 'emails.%' and count <> 0 order by kind",
      ).map(row => [row.kind.slice('emails.'.length), row.count]),
    ),
    expected,
  )
  assert.equal(
    rows("select type, count(*) as count from events where type like 'email.%' group by type order by type"),
    [
      { type: 'email.canceled', count: canceledCount },
      { type: 'email.delivered', count: sentCount },
      { type: 'email.scheduled', count },
      { type: 'email.sent', count: sentCount },
    ],
  )
}

test.run()
