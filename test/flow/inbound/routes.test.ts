import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import type { Mailhorn } from '../../kit/mailhorn.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startMailhornWithWebhooks, startSink } from '../../kit/webhook-sink.ts'
import { keyLine, letter, rsa, textOf, withSignature } from '../../unit/pipeline/inbound/verdicts/scene.ts'

const test = suite('routes of received mail')
const SIMULATED = 'delivered@simulator.test'

let mailhorn: Mailhorn
let mx: FakeMx
let session: string

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhornWithWebhooks({
    mxPort: mx.port,
    zone: `
      here.example      MX 10 mailhorn.test
      there.example     MX 10 mx.there.example
      mx.there.example  A 127.0.0.2
      here.test         TXT "v=spf1 ip4:127.0.0.1 -all"
      _dmarc.here.test  TXT "v=DMARC1; p=reject"
      ${keyLine(rsa)}
    `,
  })
  await mailhorn.verifiedDomain('here.example')
  session = await mailhorn.signIn()
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

// biome-ignore lint/suspicious/noExplicitAny: views of every field
type View = any

const call = (method: string, path: string, body?: object) =>
  mailhorn.call(method, `/inbound/routes${path}`, { session, ...(body && { body }) })

/** Creates a route for the time of a test. */
async function route(t: TestContext, body: object): Promise<View> {
  const answer = await call('POST', '', body)
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  t.after(() => call('DELETE', `/${answer.body.id}`))
  return answer.body
}

async function webhook(t: TestContext, events: string[]) {
  const sink = await startSink(t)
  const { body } = await mailhorn.call('POST', '/webhooks', { session, body: { url: sink.url, events } })
  t.after(() => mailhorn.call('DELETE', `/webhooks/${body.id}`, { session }))
  return { ...body, subjects: () => sink.events().map(({ data }) => data.subject) }
}

function mailOf(subject: string, fields = ''): string {
  return `From: Ann <ann@elsewhere.example>\nTo: all@here.example\nSubject: ${subject}\n${fields}\nHello.\n`
}

async function receive(to: string | string[], data: string, from = 'ann@elsewhere.example'): Promise<void> {
  assert.match(await sendMail(mailhorn.app.inboundAddress!, { from, to, data }), /^250 /)
}

/** Returns the first entries of the log of a route, newest first, once there are so many. */
async function logged(id: string, count: number): Promise<View[]> {
  return until(async () => {
    const { body } = await call('GET', `/${id}/log`)
    return body.data.length >= count ? body.data : undefined
  })
}

async function listed(subject: string): Promise<View> {
  return until(async () => {
    const { body } = await mailhorn.call('GET', `/inbound?q=${encodeURIComponent(subject)}`, { session })
    return body.data[0]
  })
}

async function taken(to: string): Promise<FakeMx['messages'][number]> {
  return until(() => mx.messages.findLast(({ rcptTo }) => rcptTo.includes(to)))
}

test('routes are created, listed in their order, moved, changed and deleted', async t => {
  const made = []
  for (const name of ['a', 'b', 'c'])
    made.push(await route(t, { match: `${name}@here.example`, action: 'drop' }))
  const order = async () => (await call('GET', '')).body.data.map(({ match }: View) => match[0]).join('')
  assert.is(await order(), 'abc')
  assert.is((await call('PATCH', `/${made[2].id}`, { position: 1 })).body.position, 1)
  assert.is(await order(), 'cab')
  assert.is((await call('PATCH', `/${made[2].id}`, { position: 100 })).body.position, 3)
  assert.is(await order(), 'abc')
  await route(t, { match: 'd@here.example', action: 'drop', position: 2 })
  assert.is(await order(), 'adbc')
  const { body: changed } = await call('PATCH', `/${made[0].id}`, {
    action: 'forward',
    forward_to: 'Bob@there.example',
  })
  assert.equal([changed.action, changed.forward_to, changed.position], ['forward', 'Bob@there.example', 1])
  const { body: back } = await call('PATCH', `/${made[0].id}`, { action: 'drop' })
  assert.equal([back.action, back.forward_to], ['drop', null])
  assert.is((await call('DELETE', `/${made[1].id}`)).body.deleted, true)
  assert.is(await order(), 'adc')
  assert.is((await call('GET', `/${made[1].id}`)).status, 404)
  assert.equal(
    (await call('GET', '')).body.data.map(({ position }: View) => position),
    [1, 2, 3],
  )
})

test('a route that could not work is refused, by the name of the field', async t => {
  await route(t, { match: 'taken@here.example', action: 'drop' })
  const webhookId = 'wh_01a00000-0000-7000-8000-000000000000'
  const match = 'x@here.example'
  for (const [body, status, path] of [
    [{ action: 'drop' }, 422, 'match'],
    [{ match, action: 'bounce' }, 422, 'action'],
    [{ match: 'here.example', action: 'drop' }, 422, 'match'],
    [{ match: 'x@there.example', action: 'drop' }, 422, 'match'],
    [{ match: 'Taken@here.example', action: 'drop' }, 422, 'match'],
    [{ match, action: 'forward' }, 422, 'forward_to'],
    [{ match, action: 'forward', forward_to: 'nobody' }, 422, 'forward_to'],
    [{ match: '*@here.example', action: 'forward', forward_to: 'b@here.example' }, 422, 'forward_to'],
    [{ match, action: 'drop', forward_to: 'b@there.example' }, 422, 'forward_to'],
    [{ match, action: 'webhook' }, 422, 'webhook_id'],
    [{ match, action: 'webhook', webhook_id: webhookId }, 404, 'webhook_id'],
    [{ match, action: 'drop', position: 0 }, 422, 'position'],
  ] as const) {
    const answer = await call('POST', '', body)
    assert.equal([answer.status, answer.body.errors?.[0]?.path], [status, path], JSON.stringify(body))
  }
  assert.is((await call('GET', '')).body.total, 1)
})

test('the first route that matches counts, and the test of an address finds it', async t => {
  const special = await route(t, { match: 'support+vip@here.example', action: 'drop' })
  const general = await route(t, { match: 'support+*@here.example', action: 'drop' })
  const found = async (address: string) => (await call('POST', '/test', { address })).body.route?.id ?? null
  assert.is(await found('Support+VIP@here.example'), special.id)
  assert.is(await found('support+1@here.example'), general.id)
  assert.is(await found('support@here.example'), null)
  await call('PATCH', `/${general.id}`, { position: 1 })
  assert.is(await found('support+vip@here.example'), general.id)
})

test('mail of a route to a webhook goes to no other, and other mail to those that subscribe', async t => {
  const [own, general] = [await webhook(t, ['domain.verified']), await webhook(t, ['email.received'])]
  const { id } = await route(t, { match: 'orders@here.example', action: 'webhook', webhook_id: own.id })
  await receive('orders@here.example', mailOf('An order'))
  await receive('bob@here.example', mailOf('A letter'))
  await until(() => own.subjects().length === 1 && general.subjects().length === 1)
  assert.equal([own.subjects(), general.subjects()], [['An order'], ['A letter']])
  const [entry] = await logged(id, 1)
  const { id: inboundId } = await listed('An order')
  assert.equal(
    [entry.outcome, entry.from, entry.to, entry.subject, entry.inbound_id, entry.email_id, entry.reason],
    ['stored', 'Ann <ann@elsewhere.example>', 'orders@here.example', 'An order', inboundId, null, null],
  )

  await receive(['orders@here.example', 'bob@here.example'], mailOf('For both'))
  await until(() => own.subjects().length === 2 && general.subjects().length === 2)

  await mailhorn.call('PATCH', `/webhooks/${own.id}?enabled=false`, { session })
  await receive('orders@here.example', mailOf('Another order'))
  const [failed] = await logged(id, 3)
  assert.equal([failed.outcome, failed.reason], ['failed', 'The webhook is disabled.'])
  await listed('Another order')
  assert.equal(general.subjects(), ['A letter', 'For both'])
})

test('dropped mail is accepted, and leaves nothing but an entry in the log', async t => {
  const general = await webhook(t, ['email.received'])
  const { id } = await route(t, { match: 'noreply@here.example', action: 'drop' })
  const blobCount = mailhorn.rows('select 1 from blobs').length
  await receive('NoReply@here.example', mailOf('Dropped'))
  const [entry] = await logged(id, 1)
  assert.equal(
    [entry.outcome, entry.from, entry.subject, entry.inbound_id],
    ['dropped', 'Ann <ann@elsewhere.example>', 'Dropped', null],
  )
  assert.is(mailhorn.rows('select 1 from blobs').length, blobCount)
  await receive(['noreply@here.example', 'bob@here.example'], mailOf('Half dropped'))
  const message = await listed('Half dropped')
  assert.equal((await logged(id, 2))[0].inbound_id, message.id)
  await until(() => general.subjects().length === 1)
  assert.equal(general.subjects(), ['Half dropped'])
  assert.equal(mailhorn.rows("select 1 from inbound_messages where subject = 'Dropped'"), [])
})

test('a forwarded message keeps its body and its proven author, and passes DMARC at its next host', async t => {
  const { id } = await route(t, {
    match: 'team@here.example',
    action: 'forward',
    forward_to: 'ok1@there.example',
  })
  const signed = withSignature(letter())
  const data = textOf(signed).replaceAll('\r\n', '\n').replace(/\n$/, '')
  await receive('team@here.example', data, 'ann@here.test')
  const [entry] = await logged(id, 1)
  assert.is(entry.outcome, 'forwarded', entry.reason)
  const message = await taken('ok1@there.example')
  const text = `${message.data}`
  assert.match(message.mailFrom, /^b\+[a-z2-7]+@send\.here\.example$/)
  const [head, body] = textOf(signed).split('\r\n\r\n')
  assert.ok(text.includes(`\r\n${head}\r\n`) && text.endsWith(`\r\n\r\n${body}`))
  assert.match(text, /^DKIM-Signature: (?:.|\r\n )*?d=here\.example;/)
  assert.match(text, /\r\nReceived: from client\.example \(\[127\.0\.0\.1\]\)\r\n\tby mailhorn\.test/)
  const email = await mailhorn.emailWhen(entry.email_id, 'delivered')
  assert.equal(
    [email.from, email.to, email.subject, email.text],
    ['team@here.example', ['ok1@there.example'], 'Hello', 'Hello Bob\n'],
  )
  assert.is((await listed('Hello')).id, entry.inbound_id)
})

test('an author who is not proven by a signature is in Reply-To of the forwarded message', async t => {
  await route(t, { match: 'team@here.example', action: 'forward', forward_to: 'ok2@there.example' })
  await receive('team@here.example', mailOf('Grüße', 'X-Mailhorn-Ref: x\nReturn-Path: <x@y.example>\n'))
  const { data, mailFrom } = await taken('ok2@there.example')
  const head = `${data}`.slice(0, data.indexOf('\r\n\r\n')).replace(/\r\n[\t ]/g, ' ')
  assert.match(head, /^From: "?Ann via here\.example"? <team@here\.example>$/m)
  assert.match(head, /^Reply-To: Ann <ann@elsewhere\.example>$/m)
  assert.match(head, /^Subject: =\?utf-8\?[bq]\?/im)
  assert.match(head, /^X-Mailhorn-Answered: 1$/m)
  assert.is(head.match(/^X-Mailhorn-Ref:/gm)!.length, 1)
  assert.is(/^Return-Path:/m.test(head), false)
  assert.match(mailFrom, /@send\.here\.example$/)
  assert.equal(mx.violations, [])
})

test('forged mail, loops and answers of the target are not forwarded, and stay in the inbox', async t => {
  const { id } = await route(t, {
    match: 'team@here.example',
    action: 'forward',
    forward_to: 'ok3@there.example',
  })
  const forged = textOf(
    letter({
      fields: [
        ['From', 'ann@here.test'],
        ['Subject', 'Forged'],
      ],
    }),
  )
  const answer =
    'From: ok3@there.example\nSubject: Out of office\nAuto-Submitted: auto-replied\n\nI am away.\n'
  for (const [data, from, reason] of [
    [forged.replaceAll('\r\n', '\n'), 'eve@evil.test', 'The message is spam by its spam verdict.'],
    [mailOf('Round', 'X-Mailhorn-Answered: 10\n'), 'a@there.example', /forwarded or answered 10 times/],
    [mailOf('Hops', 'Received: by x\n'.repeat(100)), 'a@there.example', /too many servers/],
    [answer, '', /an automatic answer of the address/],
  ] as const) {
    const { length } = await logged(id, 0)
    await receive('team@here.example', data, from)
    const [entry] = await logged(id, length + 1)
    assert.is(entry.outcome, 'failed')
    assert.match(entry.reason, reason)
    assert.ok(entry.inbound_id !== null)
  }
  assert.equal(
    mx.messages.filter(({ rcptTo }) => rcptTo.includes('ok3@there.example')),
    [],
  )
})

test('two routes that forward to each other end after ten rounds', async t => {
  await route(t, { match: 'ping@here.example', action: 'forward', forward_to: 'pong@here.example' })
  await route(t, { match: 'pong@here.example', action: 'forward', forward_to: 'ping@here.example' })
  await receive('ping@here.example', mailOf('Round and round'))
  const entries = () =>
    mailhorn.rows<{ outcome: string; reason: string | null }>(
      "select outcome, reason from inbound_route_log where subject = 'Round and round' order by id",
    )
  await until(() => entries().some(({ outcome }) => outcome === 'failed'))
  assert.equal(
    entries().map(({ outcome }) => outcome),
    [...Array.from({ length: 10 }, () => 'forwarded'), 'failed'],
  )
  assert.match(entries().at(-1)!.reason!, /mail loop/)
})

test('a bounce of a forwarded message ends at the email, and goes to nobody', async t => {
  const { id } = await route(t, {
    match: 'team@here.example',
    action: 'forward',
    forward_to: 'perm-550-511@there.example',
  })
  await receive('team@here.example', mailOf('To nobody'))
  const [first] = await logged(id, 1)
  await mailhorn.emailWhen(first.email_id, 'bounced')
  await receive('team@here.example', mailOf('Again'))
  const [second] = await logged(id, 2)
  assert.is((await mailhorn.emailWhen(second.email_id, 'suppressed')).status, 'suppressed')
  assert.is(
    mx.messages.some(({ rcptTo }) => rcptTo.includes('ann@elsewhere.example')),
    false,
  )
})

test('mail is forwarded while the service accepts no new email, since it was accepted before', async t => {
  const { id } = await route(t, { match: 'team@here.example', action: 'forward', forward_to: SIMULATED })
  const setMode = (mode: string) => mailhorn.call('PUT', '/installation/mode', { session, body: { mode } })
  t.after(() => setMode('normal'))
  await setMode('draining')
  await receive('team@here.example', mailOf('While draining'))
  const [entry] = await logged(id, 1)
  assert.is(entry.outcome, 'forwarded', entry.reason)
  await mailhorn.emailWhen(entry.email_id, 'delivered')
})

test('the mail of a suspended account is not forwarded, and stays in its inbox', async t => {
  const { id } = await route(t, { match: 'team@here.example', action: 'forward', forward_to: SIMULATED })
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const suspend = (suspended: boolean) =>
    mailhorn.call('PATCH', `/accounts/${account.id}`, { session, body: { suspended } })
  t.after(() => suspend(false))
  assert.is((await suspend(true)).status, 200)
  await receive('team@here.example', mailOf('While suspended'))
  const [entry] = await logged(id, 1)
  assert.is(entry.outcome, 'failed')
  assert.match(entry.reason, /^The account is suspended/)
  assert.is((await listed('While suspended')).id, entry.inbound_id)
})

test('the log is paged by cursors', async t => {
  const { id } = await route(t, { match: 'paged@here.example', action: 'drop' })
  for (const n of [1, 2, 3]) await receive('paged@here.example', mailOf(`paged ${n}`))
  await logged(id, 3)
  const { body: first } = await call('GET', `/${id}/log?limit=2`)
  assert.equal([first.total, first.has_more, first.data.length], [3, true, 2])
  const { body: rest } = await call('GET', `/${id}/log?limit=2&after=${first.data[1].id}`)
  assert.equal([rest.has_more, rest.data.length], [false, 1])
  const { body: back } = await call('GET', `/${id}/log?limit=2&before=${rest.data[0].id}`)
  assert.equal(back.data, first.data)
})

test.run()
