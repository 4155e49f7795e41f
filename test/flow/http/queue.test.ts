import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('queue/HTTP API')

const ZONE = `there.example MX 10 mx.there.example
mx.there.example A 127.0.0.2
far.example MX 10 mx.far.example
mx.far.example A 127.0.0.3`

/** Service for all tests but one; each leaves the queue empty. */
let shared: Awaited<ReturnType<typeof open>>
test.before(async () => {
  shared = await open()
})
test.after(() => shared.close())

async function open() {
  const mx = await startFakeMx({ host: '127.0.0.2' })
  const mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
  const session = await mailhorn.signIn()
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const send = (...to: string[]) =>
    mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hello' })
  const post = async (path: string, body: object) => {
    const answer = await mailhorn.call('POST', path, { session, body })
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }
  const get = async (path: string) => (await mailhorn.call('GET', path, { session })).body
  const close = async () => {
    await mailhorn.close()
    await mx.close()
  }
  return { mx, mailhorn, session, account, send, post, get, close }
}

test('queue: an account can be held at once, its mail canceled, and released again', async () => {
  const { mailhorn, account, send, post, get, mx } = shared
  const hold = await post('/queue/hold', { account_id: account.id, reason: 'spam run' })
  assert.equal(
    [hold.object, hold.account_id, hold.reason, hold.domain],
    ['queue_hold', account.id, 'spam run', null],
  )
  const first = await send('ok1@there.example')
  const queue = await until(async () => {
    const view = await get('/queue')
    return view.totals.held === 1 ? view : undefined
  })
  assert.equal(
    [queue.total, queue.data[0].domain, queue.data[0].held, queue.data[0].ages[0]],
    [1, 'there.example', 1, { up_to_minutes: 5, deliveries: 1 }],
  )
  const named = { account_name: account.name, broadcast_name: null }
  assert.equal((await get('/queue/holds')).data, [{ ...hold, ...named }])
  const canceled = await post('/queue/cancel', { account_id: account.id })
  assert.equal(canceled, { object: 'queue_change', deliveries: 1, has_more: false })
  const email = await mailhorn.email(first)
  assert.equal([email.status, email.events.at(-1).type], ['canceled', 'email.canceled'])
  const second = await send('ok2@there.example')
  assert.equal((await post('/queue/release', { account_id: account.id })).released, true)
  assert.equal((await post('/queue/release', { account_id: account.id })).released, false)
  await mailhorn.emailWhen(second, 'delivered')
  assert.equal(
    mx.messages.map(({ rcptTo }) => rcptTo),
    [['ok2@there.example']],
  )
  assert.equal((await get('/queue/holds')).data, [])
})

test('queue: deferred mail can be retried now', async () => {
  const { mailhorn, send, post, mx } = shared
  const id = await send('grey-1@there.example')
  await mailhorn.emailWhen(id, 'delivery_delayed')
  assert.is(mx.triesOf('grey-1@there.example'), 1)
  assert.is((await post('/queue/retry', { email_id: id })).deliveries, 1)
  await mailhorn.emailWhen(id, 'delivered')
})

test('queue: destinations report their results, and a paused one can be tried on request', async t => {
  const { mailhorn, send, post, get, mx } = await t.using(open())
  await mailhorn.emailWhen(await send('ok@there.example'), 'delivered')
  await mailhorn.emailWhen(await send('perm-550-511@there.example'), 'bounced')
  const [destination] = (await get('/destinations')).data
  assert.equal(
    [
      ...[destination.destination, destination.delivered, destination.bounced],
      ...[destination.bounced_by_class, destination.paused_until],
    ],
    ['mx.there.example', 1, 1, { 'invalid-recipient': 1 }, null],
  )
  assert.equal([destination.replies.length, destination.replies[0].count], [1, 1])
  const path = {
    ...{ source_ips: [], window: 7, under_way: 0, claimed: 0, messages_per_second: null },
    ...{ paused_until: null, pause_reason: null, probing: false, warmup_spent: false },
  }
  assert.equal(destination.paths, [path])
  assert.match(destination.replies[0].example, /^550 5\.1\.1/)
  assert.equal((await get('/queue?by=destination')).data, [])

  const far = await Promise.all(Array.from({ length: 12 }, (_, i) => send(`ok${i}@far.example`)))
  const resting = await until(async () => {
    const { data } = await get('/destinations?destination=mx.far.example')
    return data[0]?.paused_until ? data[0] : undefined
  })
  assert.ok(resting.pause_reason.length > 0)
  const paused = await get('/destinations?paused=true')
  assert.equal([paused.total, paused.data[0].destination], [1, 'mx.far.example'])
  const { paused_until, pause_reason } = resting
  const [{ claimed }] = resting.paths
  assert.equal(resting.paths, [{ ...path, claimed, window: 1, paused_until, pause_reason }])
  const waiting = await until(async () => {
    const { data } = await get('/queue')
    return data[0]?.destination === 'mx.far.example' ? data[0] : undefined
  })
  assert.equal([waiting.paths.length, waiting.paths[0].paused_until], [1, paused_until])
  await t.using(startFakeMx({ host: '127.0.0.3', port: mx.port }))
  const resume = async (name: string) => (await post('/destinations/resume', { destination: name })).resumed
  assert.is(await resume('mx.far.example'), true)
  for (const id of far) await mailhorn.emailWhen(id, 'delivered')
  assert.is(await resume('mx.far.example'), false)
})

test('queue: a rate limit slows a destination down until it is removed', async () => {
  const { mailhorn, session, send, post, get } = shared
  const destination = 'mx.there.example'
  const slowed = await post('/destinations/slow', { destination, messages_per_minute: 2 })
  assert.equal(
    [slowed.object, slowed.destination, slowed.messages_per_minute],
    ['destination_slow', destination, 2],
  )
  assert.equal((await get('/destinations/slow')).data, [slowed])
  /** Returns the destination when the email waits for it; undefined when the email has been delivered. */
  const waitingFor = async (id: string) => {
    const found = await until(async () => {
      const { data } = await get('/queue')
      if (data[0]?.paths[0]?.messages_per_second) return { waiting: data[0] }
      return (await mailhorn.email(id)).status === 'delivered' ? { waiting: undefined } : undefined
    })
    return found.waiting
  }
  // the limit takes effect when the delivery threads have been told
  let second = await send('ok1@there.example')
  let waiting = await waitingFor(second)
  while (!waiting) {
    second = await send('ok2@there.example')
    waiting = await waitingFor(second)
  }
  assert.equal([waiting.destination, waiting.paths[0].messages_per_second], [destination, 2 / 60])
  mailhorn.clock.advance(30_000)
  await mailhorn.emailWhen(second, 'delivered')
  const third = await send('ok3@there.example')
  assert.is((await post('/destinations/unslow', { destination })).ended, true)
  assert.is((await post('/destinations/unslow', { destination })).ended, false)
  await mailhorn.emailWhen(third, 'delivered')
  assert.equal((await get('/destinations/slow')).data, [])
  for (const messages_per_minute of [0, 60_001, 1.5, 'many', undefined])
    assertRefusal(
      await mailhorn.call('POST', '/destinations/slow', {
        session,
        body: { destination, messages_per_minute },
      }),
      {
        status: 422,
        name: messages_per_minute === undefined ? 'missing_required_field' : 'validation_error',
        path: 'messages_per_minute',
      },
    )
})

test('queue: only the operator may read or change the queue', async () => {
  const { mailhorn } = shared
  const holds = mailhorn.rows('select * from queue_holds')
  const { session, apiKey } = addAccount(mailhorn, 'stranger')
  for (const [method, path] of [
    ['GET', '/queue'],
    ['GET', '/queue/holds'],
    ['GET', '/destinations'],
    ['POST', '/queue/hold'],
    ['POST', '/queue/release'],
    ['POST', '/queue/retry'],
    ['POST', '/queue/cancel'],
    ['POST', '/destinations/resume'],
    ['GET', '/destinations/slow'],
    ['POST', '/destinations/slow'],
    ['POST', '/destinations/unslow'],
  ] as const) {
    const body =
      method === 'POST'
        ? { body: { domain: 'there.example', destination: 'mx', messages_per_minute: 1 } }
        : {}
    assertRefusal(await mailhorn.call(method, path, { session, ...body }), {
      status: 403,
      name: 'invalid_access',
    })
    assertRefusal(await mailhorn.call(method, path, { key: apiKey, ...body }), {
      status: 401,
      name: 'restricted_api_key',
    })
  }
  assert.equal(mailhorn.rows('select * from queue_holds'), holds)
})

test('queue: a refusal names the faulty field and changes nothing', async () => {
  const { mailhorn, session } = shared
  const holds = mailhorn.rows('select * from queue_holds')
  const UNKNOWN = '01990000-0000-7000-8000-000000000000'
  for (const path of ['/queue/hold', '/queue/release', '/queue/retry', '/queue/cancel']) {
    const ask = (body: object) => mailhorn.call('POST', path, { session, body })
    assertRefusal(await ask({}), { status: 422, name: 'missing_required_field', path: 'domain' })
    assertRefusal(await ask({ domain: 'no domain' }), {
      status: 422,
      name: 'validation_error',
      path: 'domain',
    })
    for (const [field, id] of [
      ['account_id', `eml_${UNKNOWN}`],
      ['broadcast_id', 'x'],
      ['email_id', `acc_${UNKNOWN}`],
    ])
      assertRefusal(await ask({ [field!]: id }), { status: 422, name: 'validation_error', path: field! })
    if (path === '/queue/release') continue
    assertRefusal(await ask({ account_id: `acc_${UNKNOWN}` }), { status: 404, name: 'not_found' })
    assertRefusal(await ask({ email_id: `eml_${UNKNOWN}` }), { status: 404, name: 'not_found' })
    assertRefusal(await ask({ broadcast_id: `brd_${UNKNOWN}` }), { status: 404, name: 'not_found' })
  }
  for (const query of ['by=age', 'domain=no%20domain', 'account_id=x', 'class=bulk', 'limit=0'])
    assertRefusal(await mailhorn.call('GET', `/queue?${query}`, { session }), {
      status: 422,
      name: 'validation_error',
      path: query.split('=')[0]!,
    })
  for (const day of ['2026-02-30', 'today', '2026-1-1'])
    assertRefusal(await mailhorn.call('GET', `/destinations?day=${day}`, { session }), {
      status: 422,
      name: 'validation_error',
      path: 'day',
    })
  assert.equal(mailhorn.rows('select * from queue_holds'), holds)
})

test.run()
