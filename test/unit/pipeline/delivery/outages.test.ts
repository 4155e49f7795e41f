import * as assert from 'uvu/assert'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { openWorker, ZONE } from './open-worker.ts'

const test = suite('outages')
const HOUR_MS = 3_600_000

/** A destination that is down until the test says otherwise. */
async function open(t: TestContext, zone: string = ZONE) {
  let isDown = true
  const worker = await openWorker(t, {
    zone,
    at: { banner: () => (isDown ? '421 4.3.2 going down' : undefined) },
  })
  const { clock, rows } = worker
  return {
    ...worker,
    comesBack: () => {
      isDown = false
    },
    goesDown: () => {
      isDown = true
    },
    count: (status: string) => rows('select 1 from deliveries where status = ?', status).length,
    states: () =>
      rows(
        'select destination, paused_until - ? as rest, pause_ms, reason from destination_states',
        clock.now(),
      ),
    waiting: () => rows('select attempts from deliveries where state = 0 and next_at <= ?', clock.now()),
  }
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `ok+${i}`)

test('a destination that is down costs a few attempts; the rest of its mail stays in the queue', async t => {
  const { send, count, pauses, states, waiting, rows } = await open(t)
  await send(...names(20))
  await until(() => count('delivery_delayed') === 5 && states().length === 1)
  assert.equal(pauses, ['mx.there.test 60000'])
  assert.equal(states(), [
    { destination: 'mx.there.test', rest: 60_000, pause_ms: 60_000, reason: '421 4.3.2 going down' },
  ])
  await until(() => rows('select 1 from deliveries where state = 1').length === 0)
  assert.equal(
    waiting(),
    Array.from({ length: 15 }, () => ({ attempts: 0 })),
  )
})

test('each probe costs one attempt, and the pause is stored', async t => {
  const { send, count, pauses, states, clock } = await open(t)
  await send(...names(20))
  await until(() => states().length === 1 && count('delivery_delayed') === 5)
  clock.advance(60_000)
  await until(() => pauses.length === 2 && states()[0]?.pause_ms === 120_000)
  await until(() => clock.timerCount > 0)
  assert.ok(count('delivery_delayed') <= 6)
})

test('when the destination answers again, all its mail is sent at once', async t => {
  const { send, count, states, comesBack, clock, pauses } = await open(t)
  await send(...names(20))
  await until(() => states().length === 1 && count('delivery_delayed') === 5)
  comesBack()
  clock.advance(60_000)
  await until(() => count('delivered') === 20)
  assert.is(pauses.at(-1), 'mx.there.test answers')
  await until(() => states().length === 0)
})

test('mail that expires while its destination is down fails without an attempt', async t => {
  const { send, count, states, clock, pauses, rows } = await open(t)
  await send(...names(20))
  await until(() => states().length === 1 && count('delivery_delayed') === 5)
  clock.advance(48 * HOUR_MS)
  await until(() => pauses.length === 2)
  await until(() => count('failed') >= 15)
  const [{ error }] = rows<{ error: string }>('select error from emails') as [{ error: string }]
  assert.is(error, 'expired after 48 h: 421 4.3.2 going down')
  assert.ok(rows("select 1 from events where type = 'email.failed'").length >= 15)
})

test("a paused destination is retried at once at the operator's request", async t => {
  const { send, run, count, states, comesBack, clock, pauses } = await open(t)
  await send(...names(20))
  await until(() => states().length === 1 && count('delivery_delayed') === 5)
  comesBack()
  const resume = () => run('resumeDestination', { destination: 'mx.there.test', now: clock.now() })
  assert.is(await resume(), true)
  await until(() => count('delivered') === 20)
  assert.equal(pauses, ['mx.there.test 60000', 'mx.there.test resumed', 'mx.there.test answers'])
  await until(() => states().length === 0)
  assert.is(await resume(), false)
})

test('a destination that is still down after an ordered retry is paused for longer', async t => {
  const { send, run, count, states, clock, pauses } = await open(t)
  await send(...names(20))
  await until(() => states().length === 1 && count('delivery_delayed') === 5)
  await run('resumeDestination', { destination: 'mx.there.test', now: clock.now() })
  await until(() => states()[0]?.pause_ms === 120_000)
  assert.equal(pauses, ['mx.there.test 60000', 'mx.there.test resumed', 'mx.there.test 120000'])
})

test('when the destination answers, its deferred mail of all domains is due, except mail deferred for another reason', async t => {
  const zone = `${ZONE}\nfar.test MX 10 mx.there.test\nelse.test MX 10 mx.else.test\nmx.else.test A 127.0.0.9`
  const scene = await open(t, zone)
  const { send, sendTo, run, count, states, comesBack, goesDown, clock, rows, when } = scene
  comesBack()
  await sendTo(['grey-9@far.test', 'defer-452@far.test', 'refused@else.test'])
  await until(() => count('delivery_delayed') === 3)
  goesDown()
  clock.advance(20_000) // kept sessions end
  await sendTo(['ok+a@far.test', 'ok+b@far.test'])
  await until(() => count('delivery_delayed') === 5)
  await send(...names(20))
  await until(() => states().length === 1)
  comesBack()
  await run('resumeDestination', { destination: 'mx.there.test', now: clock.now() })
  await until(() => count('delivered') === 22)
  await when('ok+b@far.test', 'delivered')
  assert.equal(
    rows(
      'select address, attempts from deliveries where status = ? and next_at > ? order by address',
      'delivery_delayed',
      clock.now(),
    ),
    ['defer-452@far.test', 'grey-9@far.test', 'refused@else.test'].map(address => ({ address, attempts: 1 })),
  )
})

/** Waits out one rest after the other, each with its probe, until so much time has passed. */
async function passProbed({ clock, pauses, states }: Awaited<ReturnType<typeof open>>, ms: number) {
  for (const end = clock.now() + ms; clock.now() < end; ) {
    const probes = pauses.length
    clock.advance(Number(states()[0]!.rest))
    await until(() => pauses.length > probes && Number(states()[0]?.rest) > 0)
  }
}

for (const [what, outage, back] of [
  ['an MX host that is down', null, null],
  ['name servers that fail', 'there.test SERVFAIL', ZONE],
  [
    'a host whose address cannot be looked up',
    'there.test MX 10 mx.there.test\nmx.there.test SERVFAIL',
    ZONE,
  ],
] as const)
  test(`${what} for six hours: nothing bounces, and all is delivered within a quarter of an hour after`, async t => {
    const scene = await open(t, outage ?? ZONE)
    const { send, count, states, comesBack, clock, rows, mx, zone } = scene
    if (outage) comesBack()
    await send(...names(20))
    await until(() => states().length === 1 && count('delivery_delayed') === 5)
    await passProbed(scene, 6 * HOUR_MS)
    assert.is(count('queued') + count('delivery_delayed'), 20)
    assert.ok(rows('select 1 from attempts').length <= 40, 'a rest costs one attempt')
    assert.is(mx.messages.length, 0)

    if (back) zone.set(back)
    else comesBack()
    clock.advance(Number(states()[0]!.rest))
    await until(() => count('delivered') === 20)
    assert.is(mx.messages.length, 20)
    assert.equal(rows('select 1 from suppressions'), [])
    await until(() => states().length === 0)
  })

test('mail of a paused destination is signed ahead and sent with those signatures', async t => {
  const { send, states, comesBack, clock, count, rows, foreseen } = await open(t)
  await send(...names(20))
  await until(() => states().length === 1 && count('delivery_delayed') === 5)
  const restUntil = clock.now() + 30_000 // and more, however long it takes to sign
  await until(() => {
    if (clock.now() < restUntil) clock.advance(50)
    return new Set(foreseen).size === 15
  })
  const backAt = clock.now()
  comesBack()
  clock.advance(60_000)
  await until(() => count('delivered') === 20)
  const signedAt = rows<{ at: number }>('select signed_at as at from deliveries where attempts = 1')
  assert.ok(signedAt.length >= 15)
  assert.ok(signedAt.every(({ at }) => at <= backAt))
})

test.run()
