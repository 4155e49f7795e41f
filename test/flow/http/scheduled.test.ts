import * as assert from 'uvu/assert'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('scheduled emails')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const UNKNOWN = 'eml_01990000-0000-7000-8000-000000000000'

const inMs = (ms: number) => new Date(mailhorn.clock.now() + ms).toISOString()
const schedule = (ms: number, over: object = {}) =>
  mailhorn.send({ ...MAIL, scheduled_at: inMs(ms), ...over })
const reschedule = (id: string, body: unknown) =>
  mailhorn.call('PATCH', `/emails/${id}`, { key: mailhorn.apiKey, body })
const cancel = (id: string) => mailhorn.call('POST', `/emails/${id}/cancel`, { key: mailhorn.apiKey })

function requireOk({ status, headers, body }: ApiAnswer) {
  assert.is(status, 200, JSON.stringify(body))
  assert.is(headers.get('content-type'), 'application/json; charset=utf-8')
  return body
}

const types = (email: { events: { type: string }[] }) => email.events.map(({ type }) => type)

test('an email is sent at its time', async () => {
  const scheduledAt = inMs(HOUR_MS)
  const id = await mailhorn.send({ ...MAIL, scheduled_at: scheduledAt })
  const waiting = await mailhorn.email(id)
  assert.equal(
    [waiting.status, waiting.last_event, waiting.scheduled_at],
    ['scheduled', 'scheduled', scheduledAt],
  )
  assert.equal(
    waiting.recipients.map(({ status, next_attempt_at }: Record<string, unknown>) => [
      status,
      next_attempt_at,
    ]),
    [['scheduled', scheduledAt]],
  )
  assert.equal(
    waiting.events.map(({ type, recipient, data }: Record<string, unknown>) => [type, recipient, data]),
    [['email.scheduled', null, { scheduled: { scheduled_at: scheduledAt } }]],
  )
  mailhorn.clock.advance(HOUR_MS)
  const sent = await mailhorn.emailWhen(id, 'delivered')
  assert.equal(types(sent), ['email.scheduled', 'email.sent', 'email.delivered'])
  assert.is(sent.scheduled_at, scheduledAt)
  assert.ok(Date.parse(sent.events[1].created_at) >= Date.parse(scheduledAt))
})

test('offsets and fractions of seconds are accepted', async () => {
  const at = new Date(Math.floor((mailhorn.clock.now() + DAY_MS) / 1000) * 1000)
  const east = new Date(at.getTime() + 2 * HOUR_MS).toISOString().replace('.000Z', '.123456+02:00')
  const { scheduled_at } = await mailhorn.email(await mailhorn.send({ ...MAIL, scheduled_at: east }))
  assert.is(scheduled_at, at.toISOString().replace('.000Z', '.123Z'))
  const asPython = await mailhorn.send({ ...MAIL, scheduled_at: east.replace('T', ' ') })
  assert.is((await mailhorn.email(asPython)).scheduled_at, scheduled_at)
})

test('the old spelling is accepted and null means at once', async () => {
  const waiting = await mailhorn.email(await mailhorn.send({ ...MAIL, scheduledAt: inMs(DAY_MS) }))
  assert.is(waiting.status, 'scheduled')
  const id = await mailhorn.send({ ...MAIL, scheduled_at: null })
  assert.is((await mailhorn.emailWhen(id, 'delivered')).scheduled_at, null)
})

for (const [what, time] of [
  ['words', 'in 1 hour'],
  ['a time without an offset', '2027-08-05T11:52:01'],
  ['a day', '2027-08-05'],
  ['a day that is not', '2027-02-29T00:00:00Z'],
  ['an empty text', ''],
  ['a number', 1_800_000_000_000],
  ['an object', { at: '2027-08-05T11:52:01Z' }],
  ['true', true],
] as const)
  test(`${what} is refused as a time`, async () => {
    const body = { ...MAIL, scheduled_at: time }
    const expected = { status: 422, name: 'validation_error', path: 'scheduled_at', says: /ISO 8601/ }
    await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], expected)
    const id = await schedule(DAY_MS)
    const patch = { key: mailhorn.apiKey, body: { scheduled_at: time } }
    await refuses(mailhorn, ['PATCH', `/emails/${id}`, patch], expected)
  })

for (const [what, ms] of [
  ['the past', -1_000],
  ['long past', -400 * DAY_MS],
  ['more than a year ahead', 367 * DAY_MS],
] as const)
  test(`${what} is refused`, async () => {
    const expected = { status: 422, name: 'validation_error', path: 'scheduled_at' }
    const body = { ...MAIL, scheduled_at: inMs(ms) }
    await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], expected)
    const id = await schedule(DAY_MS)
    const patch = { key: mailhorn.apiKey, body: { scheduled_at: inMs(ms) } }
    await refuses(mailhorn, ['PATCH', `/emails/${id}`, patch], expected)
    assert.is((await mailhorn.email(id)).status, 'scheduled')
  })

test('a time one year ahead is accepted', async () => {
  assert.is((await mailhorn.email(await schedule(365 * DAY_MS - 60_000))).status, 'scheduled')
})

test('a rescheduled email is sent at the new time and returned', async () => {
  const id = await schedule(HOUR_MS)
  const time = inMs(3 * HOUR_MS)
  const answer = requireOk(await reschedule(id, { scheduled_at: time, id, email_id: id }))
  assert.equal(
    [answer.object, answer.id, answer.status, answer.scheduled_at],
    ['email', id, 'scheduled', time],
  )
  assert.equal(types(answer), ['email.scheduled', 'email.scheduled'])
  mailhorn.clock.advance(HOUR_MS)
  const sooner = await schedule(HOUR_MS)
  mailhorn.clock.advance(HOUR_MS)
  await mailhorn.emailWhen(sooner, 'delivered')
  assert.is((await mailhorn.email(id)).status, 'scheduled')
  mailhorn.clock.advance(HOUR_MS)
  await mailhorn.emailWhen(id, 'delivered')
})

test('an email rescheduled to an earlier time is sent then', async () => {
  const id = await schedule(100 * DAY_MS)
  requireOk(await reschedule(id, { scheduled_at: inMs(60_000) }))
  mailhorn.clock.advance(60_000)
  await mailhorn.emailWhen(id, 'delivered')
})

test('rescheduling without a time is refused', async () => {
  const id = await schedule(DAY_MS)
  for (const body of [{}, { scheduled_at: null }, undefined])
    await refuses(mailhorn, ['PATCH', `/emails/${id}`, { key: mailhorn.apiKey, body }], {
      status: 422,
      name: 'missing_required_field',
      path: 'scheduled_at',
    })
})

test('a canceled email is not sent and is returned', async () => {
  const id = await schedule(HOUR_MS, { to: ['delivered@simulator.test', 'delivered+2@simulator.test'] })
  const answer = requireOk(await cancel(id))
  assert.equal(
    [answer.object, answer.id, answer.status, answer.last_event],
    ['email', id, 'canceled', 'canceled'],
  )
  assert.equal(
    answer.recipients.map(({ status, next_attempt_at }: Record<string, unknown>) => [
      status,
      next_attempt_at,
    ]),
    [
      ['canceled', null],
      ['canceled', null],
    ],
  )
  assert.equal(types(answer), ['email.scheduled', 'email.canceled'])
  const after = await schedule(2 * HOUR_MS)
  mailhorn.clock.advance(2 * HOUR_MS)
  await mailhorn.emailWhen(after, 'delivered')
  const later = await mailhorn.email(id)
  assert.equal([later.status, types(later)], ['canceled', ['email.scheduled', 'email.canceled']])
})

test('cancel accepts any body or none', async () => {
  for (const options of [
    { raw: '' },
    { raw: '{}' },
    { body: { id: 'x' } },
    { headers: { 'content-type': 'application/json' } },
  ])
    requireOk(
      await mailhorn.call('POST', `/emails/${await schedule(DAY_MS)}/cancel`, {
        key: mailhorn.apiKey,
        ...options,
      }),
    )
})

for (const [what, bring] of [
  ['has been sent', async () => mailhorn.send(MAIL)],
  [
    'has been canceled',
    async () => {
      const id = await schedule(HOUR_MS)
      await cancel(id)
      return id
    },
  ],
] as [string, () => Promise<string>][])
  test(`an email that ${what} can be neither moved nor canceled`, async () => {
    const id = await bring()
    const email = await mailhorn.emailWhen(id, 'delivered', 'canceled')
    const expected = {
      status: 422,
      name: 'validation_error',
      says: new RegExp(`this one is ${email.status}`),
    }
    const patch = { key: mailhorn.apiKey, body: { scheduled_at: inMs(HOUR_MS) } }
    await refuses(mailhorn, ['PATCH', `/emails/${id}`, patch], expected)
    await refuses(mailhorn, ['POST', `/emails/${id}/cancel`, { key: mailhorn.apiKey }], expected)
  })

test('an unknown email can be neither rescheduled nor canceled', async () => {
  const expected = { status: 404, name: 'not_found' }
  const patch = { key: mailhorn.apiKey, body: { scheduled_at: inMs(HOUR_MS) } }
  for (const id of [UNKNOWN, 'nonsense', UNKNOWN.replace('eml', 'dom')]) {
    await refuses(mailhorn, ['PATCH', `/emails/${id}`, patch], expected)
    await refuses(mailhorn, ['POST', `/emails/${id}/cancel`, { key: mailhorn.apiKey }], expected)
  }
})

test('reschedule and cancel need a credential', async () => {
  const id = await schedule(DAY_MS)
  const expected = { status: 401, name: 'missing_api_key' }
  await refuses(mailhorn, ['PATCH', `/emails/${id}`, { body: { scheduled_at: inMs(1) } }], expected)
  await refuses(mailhorn, ['POST', `/emails/${id}/cancel`], expected)
  const session = await mailhorn.signIn()
  requireOk(await mailhorn.call('POST', `/emails/${id}/cancel`, { session }))
})

test('the id may have no prefix', async () => {
  const bare = (id: string) => id.slice('eml_'.length)
  requireOk(await reschedule(bare(await schedule(DAY_MS)), { scheduled_at: inMs(HOUR_MS) }))
  requireOk(await cancel(bare(await schedule(DAY_MS))))
})

test('20 concurrent cancels record one event', async () => {
  const id = await schedule(HOUR_MS)
  const answers = await Promise.all(Array.from({ length: 20 }, () => cancel(id)))
  assert.is(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers)
    if (answer.status !== 200) assertRefusal(answer, { status: 422, name: 'validation_error' })
  assert.equal(types(await mailhorn.email(id)), ['email.scheduled', 'email.canceled'])
})

test('a cancel at the time of sending results in sent or canceled, never both', async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, () => schedule(HOUR_MS)))
  mailhorn.clock.advance(HOUR_MS)
  const answers = await Promise.all(ids.map(cancel))
  for (const [i, { status }] of answers.entries()) {
    const email = await mailhorn.emailWhen(ids[i]!, 'delivered', 'canceled')
    assert.is(email.status, status === 200 ? 'canceled' : 'delivered')
    assert.is(
      email.events.filter(({ type }: { type: string }) => type === 'email.sent').length,
      status === 200 ? 0 : 1,
    )
  }
})

test('many emails with the same time are all sent once', async () => {
  const ids = await Promise.all(Array.from({ length: 300 }, () => schedule(HOUR_MS)))
  mailhorn.clock.advance(HOUR_MS)
  const count = (status: string) =>
    mailhorn.rows<{ count: number }>(
      `select count(*) as count from emails where status = ? and id >= ?`,
      status,
      Buffer.from(ids[0]!.slice(4).replaceAll('-', ''), 'hex'),
    )[0]!.count
  await until(() => count('delivered') >= 300)
  assert.is(count('scheduled'), 0)
  assert.equal(
    mailhorn.rows(
      `select count(*) as count from events where type = 'email.sent'
       group by subject_id having count(*) > 1`,
    ),
    [],
  )
})

test('a clock put forward releases the email, and a clock put back does not repeat it', async () => {
  const id = await schedule(HOUR_MS)
  mailhorn.clock.jump(2 * HOUR_MS)
  await mailhorn.emailWhen(id, 'delivered')
  mailhorn.clock.jump(-2 * HOUR_MS)
  const other = await schedule(30_000)
  mailhorn.clock.advance(HOUR_MS)
  await mailhorn.emailWhen(other, 'delivered')
  const { events, recipients } = await mailhorn.email(id)
  assert.is(recipients[0].attempts, 1)
  assert.is(events.filter(({ type }: { type: string }) => type === 'email.delivered').length, 1)
})

test('an email fails with a reason if its domain is deleted before', async () => {
  const { id: domain } = await mailhorn.verifiedDomain('here.example')
  const id = await schedule(HOUR_MS, { to: 'ok@there.example' })
  await mailhorn.call('DELETE', `/domains/${domain}`, { session: await mailhorn.signIn() })
  const email = await mailhorn.emailWhen(id, 'failed')
  assert.is(email.error, 'The here.example domain was deleted.')
  assert.equal(types(email), ['email.scheduled', 'email.failed'])
})

test('an address suppressed before the time gets no email', async () => {
  const id = await schedule(HOUR_MS, { to: 'delivered+gone@simulator.test' })
  mailhorn.change(
    `insert into suppressions (account_id, email, id, reason, created_at)
     select id, 'delivered+gone@simulator.test', id, 'manual', 0 from accounts`,
  )
  mailhorn.clock.advance(HOUR_MS)
  const email = await mailhorn.emailWhen(id, 'suppressed')
  assert.equal(types(email), ['email.scheduled', 'email.suppressed'])
})

test('a repeated request after the time gets the first id', async () => {
  const options = {
    key: mailhorn.apiKey,
    body: { ...MAIL, scheduled_at: inMs(HOUR_MS) },
    headers: { 'idempotency-key': 'once' },
  }
  const first = requireOk(await mailhorn.call('POST', '/emails', options))
  mailhorn.clock.advance(2 * HOUR_MS)
  await mailhorn.emailWhen(first.id, 'delivered')
  assert.equal(requireOk(await mailhorn.call('POST', '/emails', options)), first)
})

test.run()
