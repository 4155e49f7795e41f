import * as assert from 'uvu/assert'
import { hourOf } from '../../../src/resources/alerts/operator-alerts.ts'
import { addAccount } from '../../kit/accounts.ts'
import { insertRows } from '../../kit/database.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { startWebHost } from '../../kit/web-host.ts'
import { CA_FILE } from '../../kit/webhook-sink.ts'

const test = suite('alerts of operators')
const HOUR_MS = 3_600_000

function addAlert(mailhorn: Mailhorn, over: Record<string, string | null> = {}): void {
  const at = mailhorn.clock.now()
  insertRows(mailhorn, 'operator_alerts', [
    {
      ...{ hour: hourOf(at), kind: 'ip-reputation', provider: 'outlook', source_ip: '', raised_at: at },
      ...{ mx_host: null, domain: 'there.example', reply: '550 no' },
      ...over,
    },
  ])
}

async function open(t: TestContext, env: Record<string, string> = {}) {
  const mailhorn = await t.using(startMailhorn({ env }))
  const session = await mailhorn.signIn()
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const call = (method: string, path: string, body?: object) =>
    mailhorn.call(method, path, { session, ...(body && { body }) })
  const later = (hours: number) => new Date(mailhorn.clock.now() + hours * HOUR_MS).toISOString()
  /** The alerts that are silenced. */
  const silenced = async () =>
    (await call('GET', '/alerts')).body.data
      .filter(({ silence }: { silence: object | null }) => silence)
      .map((alert: Record<string, string>) => [alert.kind, alert.provider ?? alert.account_id].join(' '))
      .sort()
  return { mailhorn, session, account, call, later, silenced }
}

test('one alert is silenced until a time, by name of who asked for it', async t => {
  const { mailhorn, call, later, silenced } = await open(t)
  addAlert(mailhorn)
  addAlert(mailhorn, { provider: 'google' })
  const until = later(1)
  const { status, body } = await call('POST', '/alerts/silence', {
    ...{ kind: 'ip-reputation', provider: 'outlook', until },
  })
  assert.is(status, 200)
  const { created_at, ...silence } = body
  assert.equal(silence, {
    ...{ object: 'alert_silence', kind: 'ip-reputation', provider: 'outlook', account_id: null },
    ...{ source_ip: null, until, created_by: mailhorn.admin.email },
  })
  assert.equal(await silenced(), ['ip-reputation outlook'])
  assert.equal((await call('GET', '/alerts/silences')).body.data, [body])
  mailhorn.clock.advance(HOUR_MS)
  assert.equal(await silenced(), [], 'it is over')
  assert.equal((await call('GET', '/alerts/silences')).body.data, [])
})

test('all alerts of a kind are silenced, and the silence is ended by the same selection', async t => {
  const { mailhorn, call, later, silenced } = await open(t)
  addAlert(mailhorn)
  addAlert(mailhorn, { provider: 'google', source_ip: '192.0.2.1' })
  addAlert(mailhorn, { kind: 'clock', provider: '' })
  await call('POST', '/alerts/silence', { kind: 'ip-reputation', until: later(1) })
  assert.equal(await silenced(), ['ip-reputation google', 'ip-reputation outlook'])
  const other = { kind: 'ip-reputation', provider: 'google' }
  assert.equal((await call('POST', '/alerts/unsilence', other)).body, {
    ...{ object: 'alert_unsilence', ended: false },
  })
  assert.is((await call('POST', '/alerts/unsilence', { kind: 'ip-reputation' })).body.ended, true)
  assert.equal(await silenced(), [])
})

test('an alert about an account is silenced by the id of the account', async t => {
  const { mailhorn, account, call, later, silenced } = await open(t)
  addAlert(mailhorn, { kind: 'account-bounces', provider: account.id })
  const selection = { kind: 'account-bounces', account_id: account.id }
  const { body } = await call('POST', '/alerts/silence', { ...selection, until: later(1) })
  assert.equal([body.provider, body.account_id], [null, account.id])
  assert.equal(await silenced(), [`account-bounces ${account.id}`])
})

test('what cannot be silenced is refused by the name of the field', async t => {
  const { account, call, later } = await open(t)
  const until = later(1)
  for (const [path, body] of [
    ['kind', { kind: 'no-such', until }],
    ['until', { kind: 'clock' }],
    ['until', { kind: 'clock', until: 'tomorrow' }],
    ['until', { kind: 'clock', until: later(-1) }],
    ['until', { kind: 'clock', until: later(91 * 24) }],
    ['account_id', { kind: 'clock', account_id: account.id, until }],
    ['account_id', { kind: 'account-bounces', account_id: 'none', until }],
    ['provider', { kind: 'account-bounces', provider: 'google', until }],
  ] as const) {
    const { status, body: reply } = await call('POST', '/alerts/silence', body)
    assert.is(status, 422, JSON.stringify(body))
    assert.is(reply.errors[0].path, path, JSON.stringify(reply))
  }
})

test('a test alert says what the webhook and the email of each operator answered', async t => {
  const receiver = { status: 200, text: 'ok' }
  const host = await t.using(
    startWebHost({
      certificate: null,
      answer: (_, response) => void response.writeHead(receiver.status).end(receiver.text),
    }),
  )
  const { mailhorn, call } = await open(t, {
    MAILHORN_ALERTS_WEBHOOK_URL: `http://127.0.0.1:${host.port}/hook`,
  })
  const noSender = {
    ...{ channel: 'email', to: null, accepted: false },
    answer:
      'the domain of `notices.from` is not verified in any account, and no operator has a verified domain',
  }
  assert.equal((await call('POST', '/alerts/test')).body, {
    object: 'alert_test',
    channels: [{ channel: 'webhook', to: null, accepted: true, answer: 'HTTP 200: ok' }, noSender],
  })
  const { type, kind, title, severity, resolved_at } = JSON.parse(`${host.requests[0]!.body}`)
  assert.equal(
    [type, kind, title, severity, resolved_at],
    ['alert.test', 'test', 'This is a test of the alerts.', 'warning', null],
  )
  await mailhorn.verifiedDomain('ops.example')
  receiver.status = 404
  receiver.text = ''
  const to = mailhorn.admin.email
  assert.equal((await call('POST', '/alerts/test')).body.channels, [
    { channel: 'webhook', to: null, accepted: false, answer: 'HTTP 404' },
    { channel: 'email', to, accepted: true, answer: 'queued for delivery' },
  ])
  const [mail] = mailhorn.rows<{ sender: string; to_list: string; subject: string }>(
    'select sender, to_list, subject from emails',
  )
  assert.match(mail!.sender, 'mailhorn@ops.example')
  assert.match(mail!.to_list, to)
  assert.is(mail!.subject, 'Mailhorn: test of the alerts')
  await host.close()
  const [webhook] = (await call('POST', '/alerts/test')).body.channels
  assert.equal([webhook.accepted, webhook.answer], [false, 'the host refuses the connection'])
})

test('without a webhook, a test alert goes by email alone, and is no alert itself', async t => {
  const { mailhorn, call } = await open(t)
  await mailhorn.verifiedDomain('ops.example')
  const { channels } = (await call('POST', '/alerts/test')).body
  assert.equal(
    channels.map(({ channel, accepted }: { channel: string; accepted: boolean }) => [channel, accepted]),
    [['email', true]],
  )
  assert.is((await call('GET', '/alerts')).body.total, 0)
})

test('a test alert goes through the smart host of alerts, with TLS and a login, and the answer is its reply', async t => {
  const login = { user: 'ops', password: 'open sésame' }
  const smartHost = await t.using(startFakeMx({ host: '127.0.0.2', tls: 'good', login }))
  const userInfo = `${login.user}:${encodeURIComponent(login.password)}`
  const mailhorn = await t.using(
    startMailhorn({
      zone: 'relay.there.test A 127.0.0.2',
      env: {
        MAILHORN_DELIVERY_CA_FILE: CA_FILE,
        MAILHORN_ALERTS_SMART_HOST: `smtp://${userInfo}@relay.there.test:${smartHost.port}`,
        MAILHORN_ALERTS_SMART_HOST_FROM: 'alerts@elsewhere.example',
      },
    }),
  )
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('POST', '/alerts/test', { session })
  const channel = body.channels.find((one: { channel: string }) => one.channel === 'smart_host')
  assert.equal([channel.to, channel.accepted], [mailhorn.admin.email, true])
  assert.match(channel.answer, /^250 /)
  const [taken] = smartHost.messages
  assert.equal(
    [taken!.mailFrom, taken!.rcptTo, taken!.tls],
    ['alerts@elsewhere.example', [mailhorn.admin.email], true],
  )
  assert.not.match(JSON.stringify(body), 'sésame')
  assert.equal(smartHost.violations, [])
})

test('silences are for operators alone', async t => {
  const { mailhorn, later } = await open(t)
  const { session } = await addAccount(mailhorn, 'Other')
  const body = { kind: 'clock', until: later(1) }
  assertRefusal(await mailhorn.call('POST', '/alerts/silence', { session, body }), {
    status: 403,
    name: 'invalid_access',
  })
})

test.run()
