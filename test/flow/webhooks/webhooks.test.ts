import * as assert from 'uvu/assert'
import { type Id, parseWireId, wireId } from '../../../src/lib/ids.ts'
import { EVENT_TYPES } from '../../../src/resources/events/types.ts'
import { openSession } from '../../kit/accounts.ts'
import type { Mailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { isSignedBy, startMailhornWithWebhooks, startSink } from '../../kit/webhook-sink.ts'

const test = suite('webhooks')
let mailhorn: Mailhorn
let session: string
test.before(async () => {
  mailhorn = await startMailhornWithWebhooks({ env: { MAILHORN_NOTICES_FROM: 'notices@notices.example' } })
  session = openSession(mailhorn, 'bearer')
})
test.after(() => mailhorn.close())

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const MAIL = { from: 'Ann <ann@here.example>', subject: 'hi', text: 't' }
const send = (name: string, more: object = {}) =>
  mailhorn.send({ ...MAIL, to: `${name}@simulator.test`, ...more })

async function make(t: TestContext, body: object) {
  const answer = await mailhorn.call('POST', '/webhooks', { session, body })
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  t.after(() => mailhorn.call('DELETE', `/webhooks/${answer.body.id}`, { session }))
  return answer.body
}
const call = (method: string, path: string, body?: object) =>
  mailhorn.call(method, `/webhooks/${path}`, { session, ...(body && { body }) })
const deliveries = async (id: string) => (await call('GET', `${id}/deliveries`)).body.data

test('webhooks: events of an email are delivered at once, signed, each once', async t => {
  const sink = await startSink(t)
  const webhook = await make(t, { url: sink.url, events: ['email.sent', 'email.bounced'] })
  assert.match(webhook.signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const id = await send('bounced', { tags: [{ name: 'order', value: '42' }] })
  await until(() => sink.requests.length === 2)
  assert.ok(sink.requests.every(request => isSignedBy(webhook.signing_secret, request)))
  const [sent, bounced] = sink.events().toSorted((a, b) => (a.type < b.type ? 1 : -1))
  assert.equal([sent!.type, bounced!.type], ['email.sent', 'email.bounced'])
  const email = await mailhorn.email(id)
  for (const { id: eventId, created_at, data } of [sent!, bounced!]) {
    const shown = email.events.find((event: { id: string }) => event.id === eventId)
    assert.is(shown.created_at, created_at)
    assert.equal(
      [data.email_id, data.message_id, data.from, data.to, data.subject, data.created_at, data.tags],
      [id, email.message_id, email.from, email.to, 'hi', email.created_at, { order: '42' }],
    )
  }
  const { bounce } = bounced!.data
  assert.equal(
    [bounce.type, bounce.subType, bounce.diagnosticCode],
    ['Permanent', bounce.subtype, [bounce.message]],
  )
  const headers = sink.requests.map(request => request.headers)
  assert.equal(headers.map(({ 'svc-id': own }) => own).toSorted(), [sent!.id, bounced!.id].toSorted())
  assert.ok(headers.every(header => !('webhook-signature' in header || 'svix-signature' in header)))
  const rows = await until(async () => {
    const shown = await deliveries(webhook.id)
    return shown.every((row: { success: boolean }) => row.success) && shown
  })
  assert.equal(
    rows.map((row: Record<string, unknown>) => [row.response_status, row.response_body, row.attempts]),
    [
      [200, 'ok', 1],
      [200, 'ok', 1],
    ],
  )
  assert.is(rows[0].request.url, sink.url)
})

test('webhooks: while the service is read-only, what was claimed waits, and is delivered afterwards', async t => {
  const answers: (() => void)[] = []
  let isSlow = true
  const sink = await startSink(t, {
    answer: (_, response) => {
      if (isSlow) answers.push(() => response.end('ok'))
      else response.end('ok')
    },
  })
  const switchTo = (mode: string) => mailhorn.call('PUT', '/installation/mode', { session, body: { mode } })
  t.after(() => switchTo('normal'))
  const webhook = await make(t, { url: sink.url, events: ['email.sent'] })
  const all = () =>
    mailhorn.rows<{ lease_until: number | null; success: number }>(
      'select lease_until, success from webhook_deliveries where webhook_id = ?',
      parseWireId('wh', webhook.id)!,
    )
  await Promise.all(Array.from({ length: 12 }, (_, i) => send(`delivered+claimed-${i}`)))
  await until(() => all().length === 12 && all().filter(row => row.lease_until !== null).length > 4)
  await switchTo('read-only')
  isSlow = false
  for (const answer of answers) answer()
  await until(() => all().every(({ lease_until }) => lease_until === null))
  const begun = sink.requests.length
  assert.ok(begun < 12, `${begun}`)
  assert.is(all().filter(({ success }) => success === 1).length, begun)
  await switchTo('normal')
  await until(() => all().every(({ success }) => success === 1))
  assert.is(sink.requests.length, 12)
})

test('webhooks: the spellings of all SDKs are accepted and returned', async t => {
  const webhook = await make(t, { endpoint: 'https://hooks.example/', events: [...EVENT_TYPES] })
  assert.equal(
    [webhook.url, webhook.endpoint, webhook.status],
    ['https://hooks.example/', webhook.url, 'enabled'],
  )
  assert.equal(webhook.events, [...EVENT_TYPES])
  for (const [path, body, enabled] of [
    ['?enabled=false', undefined, false],
    ['?enabled=true', undefined, true],
    ['', { enabled: false }, false],
    ['', { status: 'enabled' }, true],
    ['?enabled=false', { enabled: true }, false],
  ] as const) {
    const { body: changed } = await call('PATCH', webhook.id + path, body)
    assert.equal([changed.enabled, changed.status], [enabled, enabled ? 'enabled' : 'disabled'])
    assert.is(changed.disabled_reason, enabled ? null : 'user')
  }
  const { body: changed } = await call('PATCH', webhook.id, {
    endpoint: 'https://b.example/',
    events: ['email.sent'],
  })
  assert.equal([changed.url, changed.events], ['https://b.example/', ['email.sent']])
  const { body: enabled } = await call('PATCH', webhook.id, { enabled: true })
  const { body: moved } = await call('PATCH', webhook.id, { events: ['email.sent'] })
  assert.equal([moved.enabled, moved.disabled_at, moved.disabled_reason], [true, null, null])
  assert.is(enabled.disabled_at, null)
  const { body: list } = await mailhorn.call('GET', '/webhooks', { session })
  assert.equal([list.total, list.data[0].id], [1, webhook.id])
  const { body: shown } = await call('GET', webhook.id)
  assert.is(shown.id, webhook.id)
  assert.not(JSON.stringify([list, changed, shown]).includes('whsec_'))
})

test('webhooks: a refusal names the faulty field', async () => {
  const good = { url: 'https://hooks.example/', events: ['email.sent'] }
  for (const [body, path, name] of [
    [{ events: ['email.sent'] }, 'url', 'missing_required_field'],
    [{ url: good.url }, 'events', 'missing_required_field'],
    [{ ...good, events: [] }, 'events', 'missing_required_field'],
    [{ ...good, events: ['email.read'] }, 'events[0]', 'validation_error'],
    ...[
      ...['http://hooks.example/', 'http://127.0.0.1/', 'ftp://hooks.example/', 'nonsense'],
      ...['https://a:b@hooks.example/', 'https://hooks.example:25/', 'https://localhost/'],
      ...['https://10.0.0.1/', 'https://169.254.169.254/', 'https://2852039166/', 'https://0xa9fea9fe/'],
      ...[
        'https://[::ffff:10.0.0.1]/',
        'https://[64:ff9b::a00:1]/',
        'https://[2002:a00:1::]/',
        'https://[fd00::1]/',
      ],
    ].map(url => [{ ...good, url }, 'url', 'validation_error'] as const),
  ] as const)
    assertRefusal(await mailhorn.call('POST', '/webhooks', { session, body }), { status: 422, name, path })
  assert.equal((await mailhorn.call('GET', '/webhooks', { session })).body.data, [])
})

test('webhooks: for a day after a rotation both secrets sign, then only the new one', async t => {
  const sink = await startSink(t)
  const webhook = await make(t, { url: sink.url, events: ['email.sent'], standard_webhooks: true })
  const { body: rotated } = await call('POST', `${webhook.id}/rotate-secret`)
  assert.is.not(rotated.signing_secret, webhook.signing_secret)
  await call('POST', `${webhook.id}/test`)
  await until(() => sink.requests.length === 1)
  const [first] = sink.requests
  assert.ok([webhook, rotated].every(({ signing_secret }) => isSignedBy(signing_secret, first!)))
  assert.is(String(first!.headers['webhook-signature']).split(' ').length, 2)
  mailhorn.clock.advance(24 * 3_600_000 + 1)
  await call('POST', `${webhook.id}/test`)
  await until(() => sink.requests.length === 2)
  const [, second] = sink.requests
  assert.equal(
    [webhook, rotated].map(({ signing_secret }) => isSignedBy(signing_secret, second!)),
    [false, true],
  )
})

test('webhooks: up to two former secrets sign, and a third rotation within a day names what it cuts off', async t => {
  const sink = await startSink(t)
  const first = await make(t, { url: sink.url, events: ['email.sent'] })
  const rotate = async () => (await call('POST', `${first.id}/rotate-secret`)).body
  const second = await rotate()
  mailhorn.clock.advance(HOUR_MS)
  const third = await rotate()
  assert.not('warnings' in third)
  const signers = async (count: number) => {
    await call('POST', `${first.id}/test`)
    await until(() => sink.requests.length === count)
    return [first, second, third].map(({ signing_secret }) =>
      isSignedBy(signing_secret, sink.requests.at(-1)!),
    )
  }
  assert.equal(await signers(1), [true, true, true])
  mailhorn.clock.advance(23 * HOUR_MS + MINUTE_MS)
  session = openSession(mailhorn, 'bearer')
  assert.equal(await signers(2), [false, true, true], 'the first one has had its day')
  await rotate()
  const fifth = await rotate()
  assert.equal(
    fifth.warnings.map(({ path }: { path: string }) => path),
    ['signing_secret'],
  )
})

for (const [agent, body, expected] of [
  ['resend-node:6.38.0', {}, true],
  ['resend-python:2.39.0', {}, true],
  ['resend-ruby:1.10.0', {}, true],
  ['resend-go/3.12.0', {}, true],
  ['resend-php/1.10.0', {}, true],
  ['resend-java/4.20.0', {}, true],
  ['resend-rs/0.31.0', {}, true],
  ['resend-sdk/0.11.0 dotnet/9.0', {}, true],
  ['resend-cli:2.21.0', {}, true],
  ['resend-node:6.38.0', { standard_webhooks: false }, false],
  ['curl/8.14', { standard_webhooks: true }, true],
  ['curl/8.14', {}, false],
  ['my-resend-node:6.38.0', {}, false],
  ['', {}, false],
] as const)
  test(`webhooks: ${agent || 'a client without a name'} with ${JSON.stringify(body)}: standard_webhooks ${expected}`, async t => {
    const sink = await startSink(t)
    const made = await mailhorn.call('POST', '/webhooks', {
      ...{ session, headers: { 'user-agent': agent } },
      body: { url: sink.url, events: ['email.sent'], ...body },
    })
    t.after(() => call('DELETE', made.body.id))
    assert.is(made.body.standard_webhooks, expected)
    await send('delivered')
    const request = await until(() => sink.requests[0])
    assert.ok(isSignedBy(made.body.signing_secret, request), 'the signature of the contract is always sent')
    assert.is(request.headers['webhook-signature'] !== undefined, expected)
  })

test('webhooks: Standard Webhooks headers are turned on and off, under both names', async t => {
  const sink = await startSink(t)
  const webhook = await make(t, { url: sink.url, events: ['email.sent'] })
  assert.is(webhook.standard_webhooks, false)
  for (const [i, isOn] of [true, false].entries()) {
    const { body: changed } = await call('PATCH', webhook.id, { standard_webhooks: isOn })
    const { body: shown } = await call('GET', webhook.id)
    assert.equal([changed.standard_webhooks, shown.standard_webhooks], [isOn, isOn])
    await call('POST', `${webhook.id}/test`)
    await until(() => sink.requests.length === i + 1)
    const request = sink.requests.at(-1)!
    assert.ok(isSignedBy(webhook.signing_secret, request))
    for (const name of ['id', 'timestamp', 'signature']) {
      assert.is(`svix-${name}` in request.headers, isOn)
      assert.is(request.headers[`svix-${name}`], request.headers[`webhook-${name}`])
    }
  }
  const { body: remaining } = await call('PATCH', webhook.id, { standardWebhooks: null })
  assert.is(remaining.standard_webhooks, false)
  const { status } = await call('PATCH', webhook.id, { standard_webhooks: 'yes' })
  assert.is(status, 422)
})

test('webhooks: a delivery shows the headers that its last attempt was signed with', async t => {
  const sink = await startSink(t)
  const webhook = await make(t, { url: sink.url, events: ['email.sent'], standard_webhooks: true })
  const { body: tested } = await call('POST', `${webhook.id}/test`)
  await send('delivered')
  await until(() => sink.requests.length === 2)
  const listed = await until(async () => {
    const rows = await deliveries(webhook.id)
    return rows.every(({ success }: { success: boolean }) => success) ? rows : undefined
  })
  for (const { event_id, request } of [tested, ...listed]) {
    const sent = sink.requests.find(({ headers }) => headers['svc-id'] === event_id)!
    for (const [name, value] of Object.entries(request.headers)) assert.is(value, sent.headers[name], name)
    assert.is(request.body, `${sent.body}`)
    assert.ok(isSignedBy(webhook.signing_secret, { ...sent, headers: request.headers }))
    assert.ok('webhook-signature' in request.headers)
  }
})

test('webhooks: a limit to domains lets only events about them through', async t => {
  const domains = await Promise.all(['one.example', 'two.example'].map(name => mailhorn.verifiedDomain(name)))
  const [one, two] = domains.map(({ id }) => id)
  const sink = await startSink(t)
  const events = ['email.sent', 'email.canceled', 'domain.updated', 'domain.deleted', 'contact.created']
  const webhook = await make(t, { url: sink.url, events, domain_ids: [one, one] })
  assert.equal(webhook.domain_ids, [one])
  assert.match(webhook.warnings[0].message, '`contact.created`')
  const all = await startSink(t)
  await make(t, { url: all.url, events: [...events, 'email.received'] })
  const from = (domain: string) => ({ from: `ann@${domain}` })
  const cancel = async (domain: string) => {
    const at = new Date(mailhorn.clock.now() + HOUR_MS).toISOString()
    const id = await send('delivered', { ...from(domain), scheduled_at: at })
    await mailhorn.call('POST', `/emails/${id}/cancel`, { session })
    return id
  }
  const seen = () =>
    sink
      .events()
      .map(({ type, data }) => [type, data.email_id ?? data.id])
      .toSorted()
  const expected: [string, string][] = []
  await send('delivered', from('two.example'))
  await send('delivered', from('here.example'))
  expected.push(['email.sent', await send('delivered', from('one.example'))])
  await cancel('two.example')
  expected.push(['email.canceled', await cancel('one.example')])
  for (const id of [one, two])
    await mailhorn.call('PATCH', `/domains/${id}`, { session, body: { open_tracking: true } })
  expected.push(['domain.updated', one!])
  const { body: audience } = await mailhorn.call('POST', '/audiences', { session, body: { name: 'a' } })
  await mailhorn.call('POST', `/audiences/${audience.id}/contacts`, {
    ...{ session, body: { email: 'cleo@there.example' } },
  })
  for (const id of [two, one]) await mailhorn.call('DELETE', `/domains/${id}`, { session })
  expected.push(['domain.deleted', one!])
  await until(() => all.requests.length === 10 && sink.requests.length >= expected.length)
  assert.equal(seen(), expected.toSorted())

  // the limit stays after its domain is gone
  const { body: remaining } = await call('PATCH', webhook.id, { domain_ids: [one], enabled: true })
  assert.equal(remaining.domain_ids, [one])
  await send('delivered', from('here.example'))
  await until(() => all.requests.length === 11)
  assert.is(sink.requests.length, expected.length)
  const { body: lifted } = await call('PATCH', webhook.id, { domain_ids: '' })
  assert.is(lifted.domain_ids, null)
  await send('delivered', from('here.example'))
  await until(() => sink.requests.length === expected.length + 1)
})

test('webhooks: a limit that names no domain, or an unknown one, is refused', async t => {
  const good = { url: 'https://hooks.example/', events: ['email.sent'] }
  const webhook = await make(t, good)
  const unknown = 'dom_01990000-0000-7000-8000-000000000000'
  for (const [ids, status] of [
    [[], 422],
    ['nonsense', 422],
    [{}, 422],
    [0, 422],
    [[''], 404],
    [[unknown], 404],
    [[webhook.id], 404],
  ] as const) {
    const made = await mailhorn.call('POST', '/webhooks', { session, body: { ...good, domain_ids: ids } })
    const changed = await call('PATCH', webhook.id, { domain_ids: ids })
    for (const answer of [made, changed]) {
      assert.is(answer.status, status, JSON.stringify([ids, answer.body]))
      assert.match(answer.body.errors[0].path, /^domain_ids/)
    }
  }
  const { status } = await mailhorn.call('POST', '/webhooks', { session, body: { ...good, domain_ids: '' } })
  assert.is(status, 422)
  assert.is((await call('GET', webhook.id)).body.domain_ids, null)
})

test('webhooks: secrets are encrypted at rest', async t => {
  const webhook = await make(t, { url: 'https://hooks.example/', events: ['email.sent'] })
  const [row] = mailhorn.rows<{ secret: Uint8Array }>('select secret from webhooks')
  assert.not(Buffer.from(row!.secret).includes(Buffer.from(webhook.signing_secret.slice(6), 'base64')))
  assert.not(Buffer.from(row!.secret).includes(webhook.signing_secret.slice(6)))
})

test('webhooks: a failed delivery is retried and can be replayed', async t => {
  let status = 500
  const sink = await startSink(t, {
    answer: (_, response) => void response.writeHead(status, { location: sink.url }).end('no'),
  })
  const webhook = await make(t, { url: sink.url, events: ['email.sent'] })
  await send('delivered')
  const [failed] = await until(async () => {
    const rows = await deliveries(webhook.id)
    return rows[0]?.response_status && rows
  })
  assert.equal([failed.success, failed.response_status, failed.attempts], [false, 500, 1])
  const endedAt = Date.parse(failed.last_attempt_at) + failed.duration_ms
  const waitMs = Date.parse(failed.next_attempt_at) - endedAt
  assert.ok(waitMs >= 4_990 && waitMs < 6_000, `${waitMs}`)
  assert.ok((await call('GET', webhook.id)).body.failing_since)
  status = 302
  mailhorn.clock.advance(6_000)
  await until(async () => (await deliveries(webhook.id))[0].response_status === 302)
  status = 204
  const { body: replayed } = await call('POST', `${webhook.id}/deliveries/${failed.id}/replay`)
  assert.equal([replayed.event_id, replayed.attempts], [failed.event_id, 0])
  const rows = await until(async () => {
    const shown = await deliveries(webhook.id)
    return shown[0].success && shown
  })
  assert.equal(
    rows.map((row: Record<string, unknown>) => [row.id, row.success, row.attempts, row.next_attempt_at]),
    [
      [replayed.id, true, 1, null],
      [failed.id, false, 2, null],
    ],
  )
  assert.is(new Set(sink.requests.map(({ headers }) => headers['svc-id'])).size, 1)
  assert.is(new Set(sink.requests.map(({ body }) => `${body}`)).size, 1)
  assert.is((await call('GET', webhook.id)).body.failing_since, null)
  assert.is((await call('POST', `${webhook.id}/deliveries/${webhook.id}/replay`)).status, 404)
})

test('webhooks: a test event passes a backlog, and the reply has the response', async t => {
  let status = 500
  const sink = await startSink(t, {
    answer: (_, response) => void response.writeHead(status).end(`said ${status}`),
  })
  const webhook = await make(t, { url: sink.url, events: ['email.sent'] })
  for (let i = 0; i < 6; i++) await send('delivered')
  const isTried = ({ attempts }: { attempts: number }) => attempts > 0
  await until(async () => (await deliveries(webhook.id)).filter(isTried).length >= 5)
  for (const said of [404, 200]) {
    status = said
    const { body: tested } = await call('POST', `${webhook.id}/test`)
    assert.equal(
      [tested.test, tested.success, tested.attempts, tested.response_status, tested.response_body],
      [true, said === 200, 1, said, `said ${said}`],
    )
    assert.equal([tested.next_attempt_at, typeof tested.duration_ms], [null, 'number'])
    assert.is(sink.events().find(({ id }) => id === tested.event_id)!.data.test, true)
    assert.equal((await deliveries(webhook.id))[0], tested)
  }
})

test('webhooks: a test event without a response has its reason', async t => {
  const webhook = await make(t, { url: 'https://nowhere.invalid/hook', events: ['email.sent'] })
  const { status, body: tested } = await call('POST', `${webhook.id}/test`)
  assert.is(status, 200)
  assert.equal([tested.success, tested.attempts, tested.response_status], [false, 1, null])
  assert.ok(tested.error)
  assert.is((await call('GET', webhook.id)).body.failing_since, null)
})

test('webhooks: a disabled or deleted webhook gets no request', async t => {
  const sink = await startSink(t, { answer: (_, response) => void response.writeHead(503).end() })
  const events = ['email.sent', 'email.delivered']
  const webhook = await make(t, { url: sink.url, events })
  await send('delivered')
  await until(() => sink.requests.length === 2)
  await until(async () =>
    (await deliveries(webhook.id)).every((row: { response_status: number | null }) => row.response_status),
  )
  await call('PATCH', `${webhook.id}?enabled=false`)
  const other = await startSink(t)
  const beacon = await make(t, { url: other.url, events })
  mailhorn.clock.advance(6_000)
  await send('delivered')
  await until(() => other.requests.length === 2)
  assert.is(sink.requests.length, 2)
  assertRefusal(await call('POST', `${webhook.id}/test`), { status: 422, name: 'validation_error' })
  await call('PATCH', `${webhook.id}?enabled=true`)
  await until(() => sink.requests.length === 4)
  await call('DELETE', webhook.id)
  mailhorn.clock.advance(400_000)
  await call('POST', `${beacon.id}/test`)
  await until(() => other.requests.length === 3)
  assert.is(sink.requests.length, 4)
  await until(() => {
    mailhorn.clock.advance(60_000) // a sweeper rests after a step that the clock made long
    return mailhorn.rows('select webhook_id from webhook_deliveries').length <= 3
  })
})

test('webhooks: a webhook that fails for five days is disabled, and its owner gets one email', async t => {
  const sink = await startSink(t, { answer: (_, response) => void response.writeHead(500).end() })
  const webhook = await make(t, { url: sink.url, events: ['email.sent'] })
  await send('delivered')
  const attemptsOfNewest = () =>
    mailhorn.rows<{ attempts: number }>(
      'select attempts from webhook_deliveries order by webhook_id desc limit 1',
    )[0]?.attempts
  await until(() => mailhorn.rows('select id from webhooks where failing_since is not null').length)
  mailhorn.clock.advance(5 * 24 * HOUR_MS - MINUTE_MS)
  await until(() => attemptsOfNewest() === 2)
  await send('delivered')
  await until(() => sink.requests.length === 3)
  mailhorn.clock.advance(2 * MINUTE_MS)
  session = openSession(mailhorn, 'bearer')
  await until(async () => !(await call('GET', webhook.id)).body.enabled)
  const { body: disabled } = await call('GET', webhook.id)
  assert.equal([disabled.status, disabled.disabled_reason], ['disabled', 'failing'])
  const notices = () =>
    mailhorn.rows<{ id: Id }>("select id from emails where subject = 'A webhook was disabled'")
  assert.equal(notices(), [])
  await mailhorn.verifiedDomain('notices.example')
  mailhorn.clock.advance(HOUR_MS)
  const notice = await until(() => notices()[0])
  const email = await mailhorn.email(wireId('eml', notice.id))
  assert.equal([email.from, email.to], ['notices@notices.example', [mailhorn.admin.email]])
  assert.match(email.text, webhook.url)
  assert.match(email.text, `PATCH /webhooks/${webhook.id}?enabled=true`)
  await until(() => mailhorn.rows('select id from webhooks where notice_due = 0').length)
  mailhorn.clock.advance(HOUR_MS)
  await call('PATCH', `${webhook.id}?enabled=true`)
  await until(() => sink.requests.length > 3)
  assert.is(notices().length, 1)
})

test('webhooks: an account has at most 100 webhooks', async t => {
  for (let i = 0; i < 100; i++) await make(t, { url: 'https://hooks.example/', events: ['email.sent'] })
  const body = { url: 'https://hooks.example/', events: ['email.sent'] }
  assertRefusal(await mailhorn.call('POST', '/webhooks', { session, body }), {
    status: 422,
    name: 'validation_error',
  })
})

test('webhooks: one can be created disabled, and the two spellings must agree', async () => {
  const good = { url: 'https://hooks.example/', events: ['email.sent'] }
  for (const state of [{ enabled: false }, { status: 'disabled' }, { enabled: false, status: 'disabled' }]) {
    const { status, body } = await mailhorn.call('POST', '/webhooks', {
      session,
      body: { ...good, ...state },
    })
    assert.equal([status, body.enabled, body.status], [201, false, 'disabled'])
    assert.equal([body.disabled_reason, typeof body.disabled_at], ['user', 'string'])
    const contradiction = { enabled: true, status: 'disabled' }
    for (const [method, path] of [
      ['POST', '/webhooks'],
      ['PATCH', `/webhooks/${body.id}`],
    ] as const) {
      const answer = await mailhorn.call(method, path, { session, body: { ...good, ...contradiction } })
      assertRefusal(answer, { status: 422, name: 'validation_error', path: 'status' })
    }
    await mailhorn.call('DELETE', `/webhooks/${body.id}`, { session })
  }
})

test.run()
