import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { STARTER_HTML } from '../../../src/pipeline/broadcasts/starter.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, type MailhornOptions, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('broadcasts/send over HTTP')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const PUBLIC = { MAILHORN_TRACKING_BASE_URL: 'https://mail.here.example' }
const HOUR_MS = 3_600_000
const REAL = 'ok@there.example'
const SIMULATED = 'delivered@simulator.test'

let mx: FakeMx
/** Service for the tests that change no setting. */
let shared: Awaited<ReturnType<typeof open>>
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  shared = await open()
})
test.after(async () => {
  await shared.mailhorn.close()
  await mx.close()
})

/** Returns helpers that call one service. */
function requestOf(mailhorn: Mailhorn) {
  const call = async (method: string, path: string, body?: object) => {
    const session = await mailhorn.signIn()
    return mailhorn.call(method, path, { session, ...(body && { body }) })
  }
  const audienceOf = async (...emails: string[]): Promise<string> => {
    const { body } = await call('POST', '/audiences', { name: 'Readers' })
    for (const email of emails) await call('POST', `/audiences/${body.id}/contacts`, { email })
    return body.id
  }
  const draftFor = async (audience: string, over: object = {}) => {
    const words = { from: 'Ann <ann@here.example>', subject: 'News', text: 'Hello {{unsubscribe_url}}' }
    const answer = await call('POST', '/broadcasts', { audience_id: audience, ...words, ...over })
    assert.is(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  const get = async (id: string) => (await call('GET', `/broadcasts/${id}`)).body
  const when = (id: string, status: string) =>
    until(async () => {
      const broadcast = await get(id)
      return broadcast.status === status ? broadcast : undefined
    })
  /** The broadcast once a member's email was delivered: when it is `sent`, the email may be on its way. */
  const whenDelivered = (id: string) =>
    until(async () => {
      const broadcast = await when(id, 'sent')
      return broadcast.counts.delivered > 0 ? broadcast : undefined
    })
  const inAnHour = () => new Date(mailhorn.clock.now() + HOUR_MS).toISOString()
  return { call, audienceOf, draftFor, get, when, whenDelivered, inAnHour }
}

async function open(options: MailhornOptions = {}) {
  const mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port, ...options })
  await mailhorn.verifiedDomain('here.example')
  return { mailhorn, ...requestOf(mailhorn) }
}

async function started(t: TestContext, env: Record<string, string>) {
  const scene = await open({ env })
  t.after(() => scene.mailhorn.close())
  return scene
}

test('version: it changes with content and audience only', async () => {
  const { call, audienceOf, draftFor, get } = shared
  const audience = await audienceOf(SIMULATED)
  const { id, version } = await draftFor(audience)
  assert.match(version, /^[\w-]{22}$/)
  const patched = async (body: object) => (await call('PATCH', `/broadcasts/${id}`, body)).body.version
  assert.is(await patched({ name: 'For me', subject: 'News' }), version)
  const seen = [version]
  for (const change of [
    { subject: 'Other' },
    { html: '<p>x</p>' },
    { text: 'x' },
    { preview_text: 'x' },
    { reply_to: 'desk@here.example' },
    { from: 'bob@here.example' },
    { audience_id: await audienceOf() },
  ])
    seen.push(await patched(change))
  assert.is(new Set(seen).size, 8, 'each change makes another version')
  assert.is((await get(id)).version, seen.at(-1))
})

test('version: a broadcast that was changed meanwhile is neither sent nor changed', async () => {
  const { call, audienceOf, draftFor, get, when, inAnHour } = shared
  const { id, version } = await draftFor(await audienceOf(SIMULATED))
  await call('PATCH', `/broadcasts/${id}`, { text: 'Changed by somebody else.' })
  for (const [method, path, body] of [
    ['POST', `/broadcasts/${id}/send`, { version }],
    ['POST', `/broadcasts/${id}/send`, { version, scheduled_at: inAnHour() }],
    ['POST', `/broadcasts/${id}/send`, { version: '' }],
    ['PATCH', `/broadcasts/${id}`, { version, text: 'mine' }],
  ] as const) {
    const { status, body: refused } = await call(method, path, body)
    assert.equal([status, refused.name, refused.errors[0].path], [422, 'validation_error', 'version'])
    assert.match(refused.message, /was changed after this `version` was read/)
  }
  const remaining = await get(id)
  assert.equal([remaining.status, remaining.text], ['draft', 'Changed by somebody else.'])
  const sent = await call('POST', `/broadcasts/${id}/send`, { version: remaining.version })
  assert.is(sent.status, 200)
  await when(id, 'sent')
})

test('version: a broadcast says who has changed it last, a user or an access token', async () => {
  const { mailhorn, call, audienceOf, draftFor, get } = shared
  const { id, updated_by } = await draftFor(await audienceOf(SIMULATED))
  assert.is(updated_by, mailhorn.admin.email)
  const { body: made } = await call('POST', '/access-tokens', {
    name: 'Our CI',
    scopes: ['broadcasts:write'],
  })
  const changed = await mailhorn.call('PATCH', `/broadcasts/${id}`, {
    key: made.token,
    body: { text: 'By a program. {{unsubscribe_url}}' },
  })
  assert.is(changed.body.updated_by, 'Our CI')
  const listed = (await call('GET', '/broadcasts?limit=100')).body.data.find(
    (one: { id: string }) => one.id === id,
  )
  assert.is(listed.updated_by, 'Our CI')
  assert.is((await call('POST', `/broadcasts/${id}/duplicate`)).body.updated_by, mailhorn.admin.email)
  assert.is((await get(id)).updated_by, 'Our CI')
})

test('delay: a broadcast waits as long, and can be unscheduled until it begins', async () => {
  const { mailhorn, call, audienceOf, draftFor, get, whenDelivered, inAnHour } = shared
  const { id, version } = await draftFor(await audienceOf(SIMULATED))
  const send = (body: object) => call('POST', `/broadcasts/${id}/send`, body)
  const unschedule = () => call('POST', `/broadcasts/${id}/unschedule`)
  for (const [body, path] of [
    [{ delay_seconds: 30, scheduled_at: inAnHour() }, 'delay_seconds'],
    [{ delay_seconds: 3_601 }, 'delay_seconds'],
    [{ delay_seconds: -1 }, 'delay_seconds'],
  ] as const) {
    const refused = await send(body)
    assert.equal([refused.status, refused.body.errors[0].path], [422, path])
  }
  assert.is((await unschedule()).status, 422)
  const before = mailhorn.clock.now()
  const { status, scheduled_at, undo_until } = (await send({ delay_seconds: 30, version })).body
  assert.equal([status, undo_until], ['scheduled', scheduled_at])
  const delayMs = Date.parse(scheduled_at) - before
  assert.ok(delayMs >= 30_000 && delayMs < 40_000, `${delayMs}`)
  const undone = await unschedule()
  assert.equal([undone.status, undone.body.status, undone.body.scheduled_at], [200, 'draft', null])
  assert.is(undone.body.undo_until, null)
  mailhorn.clock.advance(40_000)
  assert.is((await get(id)).status, 'draft')

  await send({ delay_seconds: 30 })
  mailhorn.clock.advance(31_000)
  await whenDelivered(id)
  assert.is((await get(id)).undo_until, null, 'sending has begun')
  const late = await unschedule()
  assert.equal([late.status, late.body.message], [422, 'A broadcast that is sent cannot be unscheduled.'])
  const planned = await draftFor(await audienceOf(SIMULATED))
  const times = async (path: string, body: object) => {
    const { body: shown } = await call(
      path === '' ? 'PATCH' : 'POST',
      `/broadcasts/${planned.id}${path}`,
      body,
    )
    return [shown.scheduled_at !== null, shown.undo_until !== null]
  }
  const soon = new Date(mailhorn.clock.now() + 20_000).toISOString()
  assert.equal(await times('/send', { scheduled_at: soon }), [true, false], 'a time is no delay')
  assert.equal(await times('/send', { delay_seconds: 3_600 }), [true, true])
  assert.equal(await times('', { scheduled_at: inAnHour() }), [true, false])
  const now = await draftFor(await audienceOf(SIMULATED))
  const sent = await call('POST', `/broadcasts/${now.id}/send`, { delay_seconds: 0 })
  assert.is(sent.body.status, 'sending', 'a program that names no delay sends at once')
})

test('no unsubscribe link: a reason is stored with the broadcast, and without one the reply warns', async () => {
  const { call, audienceOf, draftFor, get } = shared
  const audience = await audienceOf(SIMULATED)
  const send = async (id: string, body: object = {}) =>
    (await call('POST', `/broadcasts/${id}/send`, body)).body
  const silent = await draftFor(audience, { text: 'No way out.' })
  const { status, warnings } = await send(silent.id)
  assert.equal(
    [status, warnings.map(({ path }: { path: string }) => path)],
    ['sending', ['no_unsubscribe_reason']],
  )
  const { id } = await draftFor(audience, { text: 'Your terms have changed.' })
  const refused = await call('POST', `/broadcasts/${id}/send`, { no_unsubscribe_reason: 'because' })
  assert.equal([refused.status, refused.body.errors[0].path], [422, 'no_unsubscribe_reason'])
  const sent = await send(id, { no_unsubscribe_reason: 'required_notice' })
  assert.equal([sent.no_unsubscribe_reason, sent.warnings], ['required_notice', undefined])
  assert.is((await get(id)).no_unsubscribe_reason, 'required_notice')
  const copy = (await call('POST', `/broadcasts/${id}/duplicate`)).body
  assert.is(copy.no_unsubscribe_reason, null, 'another broadcast needs a reason of its own')
  const linked = await draftFor(audience, { no_unsubscribe_reason: 'internal' })
  assert.is(linked.no_unsubscribe_reason, 'internal')
  const unneeded = await send(linked.id)
  assert.equal([unneeded.no_unsubscribe_reason, unneeded.warnings], [null, undefined])
})

test('recipients: the preview says who will get it, and who is skipped', async () => {
  const { call, audienceOf, draftFor, whenDelivered } = shared
  const audience = await audienceOf(SIMULATED)
  const add = (body: object) => call('POST', `/audiences/${audience}/contacts`, body)
  await add({ email: 'delivered+left@simulator.test', unsubscribed: true })
  await add({ email: 'delivered+bad@simulator.test' })
  await call('POST', '/suppressions', { email: 'delivered+bad@simulator.test' })
  const { id } = await draftFor(audience)
  const { status, body } = await call('GET', `/broadcasts/${id}/recipients/preview`)
  assert.is(status, 200)
  assert.equal(body, {
    ...{ object: 'broadcast_recipient_preview', id, total: 3, recipients: 1 },
    skipped: { unsubscribed: 1, opted_out: 0, suppressed: 1, quota: 0 },
    complete: true,
  })
  await call('POST', `/broadcasts/${id}/send`)
  const { skipped, progress } = await whenDelivered(id)
  assert.equal([progress.total, skipped], [3, { ...body.skipped, deleted: 0 }])
  const listed = async (query: string) => (await call('GET', `/broadcasts/${id}/recipients?${query}`)).body
  const rows = (list: { data: { email: string; skip_reason: string }[] }) =>
    list.data.map(({ email, skip_reason }) => [email, skip_reason]).toSorted()
  const all = await listed('type=skipped')
  assert.equal(
    [all.total, rows(all)],
    [
      2,
      [
        ['delivered+bad@simulator.test', 'suppressed'],
        ['delivered+left@simulator.test', 'unsubscribed'],
      ],
    ],
  )
  assert.match(all.data[0].id, /^rcp_/)
  assert.match(all.data[0].contact_id, /^con_/)
  const rest = await listed(`type=skipped&after=${all.data[0].id}`)
  assert.equal(rest.data, all.data.slice(1))
  assert.equal(rows(await listed('type=skipped&skip_reason=suppressed')), [
    ['delivered+bad@simulator.test', 'suppressed'],
  ])
  for (const [query, path] of [
    ['type=skipped&skip_reason=boredom', 'skip_reason'],
    ['type=sent&skip_reason=quota', 'skip_reason'],
    ['type=skipped&bounce_type=permanent', 'bounce_type'],
    ['type=skipped&after=eml_01a201a1-0fc1-7038-b875-63bded9b3d16', 'after'],
    ['type=ignored', 'type'],
  ]) {
    const refused = await call('GET', `/broadcasts/${id}/recipients?${query}`)
    assert.equal([refused.status, refused.body.errors[0].path], [422, path], query)
  }
  const filters = [{ field: 'email', op: 'exists' }]
  const segment = (await call('POST', `/audiences/${audience}/segments`, { name: 'Gone', filters })).body.id
  const other = await draftFor(audience, { segment_id: segment })
  await call('DELETE', `/audiences/${audience}/segments/${segment}`)
  const refused = await call('GET', `/broadcasts/${other.id}/recipients/preview`)
  assert.equal(
    [refused.status, refused.body.message],
    [422, 'The segment of the broadcast has been deleted.'],
  )
})

test('starter text: a broadcast with it is refused, regardless of white space', async () => {
  const { call, audienceOf, draftFor, get, inAnHour } = shared
  const audience = await audienceOf(SIMULATED)
  for (const html of [STARTER_HTML, `${STARTER_HTML.replaceAll('\n', '\r\n')}\n\n`]) {
    const { id } = await draftFor(audience, { html })
    for (const body of [{}, { scheduled_at: inAnHour() }]) {
      const { status, body: refused } = await call('POST', `/broadcasts/${id}/send`, body)
      assert.equal([status, refused.errors[0].path], [422, 'html'])
      assert.match(refused.message, /starter text/)
    }
    const { findings } = (await call('POST', `/broadcasts/${id}/lint`)).body
    assert.ok(findings.some(({ rule, part }: Finding) => rule === 'starter_text' && part === 'html'))
    assert.is((await get(id)).status, 'draft')
  }
})

interface Finding {
  rule: string
  severity: string
  part: string
  message: string
}

for (const [name, env] of [
  ['derived from a loopback listener', {}],
  ['localhost', { MAILHORN_TRACKING_BASE_URL: 'http://localhost:3000' }],
  ['no URL', { MAILHORN_TRACKING_BASE_URL: 'mail.here.example' }],
] as const)
  test(`links, ${name}: nothing is sent or scheduled for real recipients`, async t => {
    const { call, audienceOf, draftFor, get, inAnHour } =
      Object.keys(env).length === 0 ? shared : await started(t, env)
    const audience = await audienceOf(SIMULATED, REAL)
    const { id, version, from, subject, text } = await draftFor(audience)
    const words = { audience_id: audience, from, subject, text }
    const { total } = (await call('GET', '/broadcasts')).body
    for (const [path, body] of [
      [`/broadcasts/${id}/send`, { version }],
      [`/broadcasts/${id}/send`, { scheduled_at: inAnHour() }],
      ['/broadcasts', { ...words, send: true }],
      ['/broadcasts', { ...words, scheduled_at: inAnHour() }],
    ] as const) {
      const { status, body: refused } = await call('POST', path, body)
      assert.equal([status, refused.name], [422, 'validation_error'])
      assert.match(refused.message, /Set `(http|tracking)\.base_url` to the public https address/)
    }
    const { findings } = (await call('POST', `/broadcasts/${id}/lint`)).body
    const [finding] = findings.filter(({ part }: Finding) => part === 'links')
    assert.equal([finding.rule, finding.severity], ['unreachable_links', 'error'])
    assert.is((await get(id)).status, 'draft')
    assert.is((await call('GET', '/broadcasts')).body.total, total)
  })

test('links, loopback: faults of the content are refused first', async () => {
  const { call, audienceOf, draftFor } = shared
  const draft = await draftFor(await audienceOf(SIMULATED, REAL), { from: 'ann@unknown.example' })
  const { status, body } = await call('POST', `/broadcasts/${draft.id}/send`, { version: draft.version })
  assert.equal([status, body.name], [403, 'validation_error'])
  assert.match(body.message, 'The unknown.example domain in `from` is not registered')
})

test('a sender whose domain may not send: lint says why, as sending does', async () => {
  const { call, audienceOf, draftFor } = shared
  await call('POST', '/domains', { name: 'pending.example' })
  const { body: off } = await call('POST', '/domains', { name: 'off.example' })
  await call('PATCH', `/domains/${off.id}`, { capabilities: { sending: 'disabled' } })
  const audience = await audienceOf(SIMULATED)
  for (const [name, why] of [
    ['unknown.example', 'not registered'],
    ['pending.example', 'not verified'],
    ['off.example', 'not verified'],
    ['here.example', undefined],
  ]) {
    const { id, version } = await draftFor(audience, { from: `ann@${name}` })
    const { findings } = (await call('POST', `/broadcasts/${id}/lint`)).body
    const found = findings.filter(({ part }: Finding) => part === 'from')
    if (!why) {
      assert.equal(found, [])
      continue
    }
    const { body: refused } = await call('POST', `/broadcasts/${id}/send`, { version })
    assert.match(refused.message, why)
    const finding = { rule: 'sender_domain', severity: 'error', part: 'from', line: null }
    assert.equal(found, [{ ...finding, message: refused.message }])
  }
})

test('links, loopback: a broadcast to simulator contacts only is sent', async () => {
  const { call, audienceOf, draftFor, whenDelivered } = shared
  const all = await audienceOf(SIMULATED, REAL)
  const filters = [{ field: 'email', op: 'contains', value: '@simulator.test' }]
  const { body: segment } = await call('POST', `/audiences/${all}/segments`, { name: 'Try', filters })
  const gone = await audienceOf(SIMULATED, 'left@there.example')
  await call('PATCH', '/contacts/left@there.example', { unsubscribed: true })
  for (const draft of [
    await draftFor(await audienceOf(SIMULATED)),
    await draftFor(all, { segment_id: segment.id }),
    await draftFor(gone),
  ]) {
    const { findings } = (await call('POST', `/broadcasts/${draft.id}/lint`)).body
    assert.equal(
      findings.filter(({ part }: Finding) => part === 'links'),
      [],
    )
    assert.is((await call('POST', `/broadcasts/${draft.id}/send`)).status, 200)
    assert.is((await whenDelivered(draft.id)).counts.delivered, 1)
  }
})

test('links, loopback at the start: a scheduled broadcast fails with the reason and can be resumed later', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const options = { zone: ZONE, mxPort: mx.port, dataDir }
  const first = await startMailhorn({ ...options, env: PUBLIC })
  await first.verifiedDomain('here.example')
  const { audienceOf, draftFor, inAnHour } = requestOf(first)
  const { id } = await draftFor(await audienceOf(SIMULATED, REAL), {
    subject: 'Scheduled',
    scheduled_at: inAnHour(),
  })
  await first.close()

  const second = await startMailhorn(options)
  second.clock.advance(HOUR_MS)
  const failed = await requestOf(second).when(id, 'failed')
  assert.match(failed.error, /Set `http\.base_url`/)
  assert.equal(second.rows('select address from deliveries'), [])
  await second.close()

  const third = await t.using(startMailhorn({ ...options, env: PUBLIC }))
  third.clock.advance(HOUR_MS)
  assert.is((await requestOf(third).call('POST', `/broadcasts/${id}/resume`)).status, 200)
  await requestOf(third).when(id, 'sent')
  const mine = await until(async () =>
    mx.messages.find(({ headers }) => /^Subject: Scheduled/m.test(headers)),
  )
  assert.equal(mine.rcptTo, [REAL])
  assert.match(mine.headers, 'List-Unsubscribe: <https://mail.here.example/u/')
})

for (const [url, expected] of [
  ['https://mail.here.example', []],
  ['http://mail.here.example', [['weak_links', 'warning']]],
  ['https://10.1.2.3', [['weak_links', 'warning']]],
] as const)
  test(`links at ${url}: a broadcast to real recipients is sent, with the findings of lint`, async t => {
    const { call, audienceOf, draftFor, when } = await started(t, { MAILHORN_TRACKING_BASE_URL: url })
    const { id, version } = await draftFor(await audienceOf(REAL))
    const { findings } = (await call('POST', `/broadcasts/${id}/lint`)).body
    assert.equal(
      findings
        .filter(({ part }: Finding) => part === 'links')
        .map(({ rule, severity }: Finding) => [rule, severity]),
      expected,
    )
    assert.is((await call('POST', `/broadcasts/${id}/send`, { version })).status, 200)
    await when(id, 'sent')
  })

test.run()
