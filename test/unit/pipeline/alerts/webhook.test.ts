import { createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { Log } from '../../../../src/lib/log.ts'
import type { AlertFormat } from '../../../../src/pipeline/alerts/message.ts'
import { createAlertWebhook, sendAlertNotices } from '../../../../src/pipeline/alerts/webhook.ts'
import { createOutbound } from '../../../../src/protocols/http-client/outbound.ts'
import { hourOf } from '../../../../src/resources/alerts/operator-alerts.ts'
import type { OperatorAlertRow } from '../../../../src/store/model/schema/alerts.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startWebHost } from '../../../kit/web-host.ts'

const test = suite('alerts: the webhook of operators')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const DISK = { kind: 'disk-space', provider: '/data', domain: '', reply: 'No space is left.' }
const BLOCKED = { kind: 'ip-reputation', provider: 'outlook', domain: 'there.example', reply: '550 <S3150>' }

interface Options {
  format?: AlertFormat
  secret?: string | null
}

/** A receiver on loopback, of which the test says what it answers, and the sender with a clock of its own. */
async function open(t: TestContext, { format = 'generic', secret = null }: Options = {}) {
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  const receiver = { status: 200 }
  const host = await t.using(
    startWebHost({
      certificate: null,
      answer: (_, response) => void response.writeHead(receiver.status).end('said'),
    }),
  )
  const { run } = store
  const unused = () => assert.unreachable() as never
  const outbound = createOutbound({
    ...{ resolver: { addresses4: unused, addresses6: unused }, clock },
    ...{ allowPrivate: true, allowInsecureLoopback: true },
  })
  t.after(() => outbound.close())
  const logged: { event: string; answer?: string }[] = []
  const write = (fields: { event: string }) => logged.push(fields)
  const webhook = createAlertWebhook({
    ...{ url: `http://127.0.0.1:${host.port}/hook`, format, secret, outbound, clock },
    installation: {
      name: 'mail.example.com',
      alertsUrl: 'https://mail.example.com/dashboard/deliverability',
    },
  })
  const log = { warn: write, error: write } as unknown as Log
  const options = { webhook, run, repeatMs: DAY_MS, clock, random: () => 0, log }
  let seen = 0
  return {
    ...{ clock, receiver, host, store, logged },
    /** Runs a round of the sender and returns what the receiver got, a minute after the last one. */
    async round(passMs = MINUTE_MS) {
      clock.advance(passMs)
      for await (const _ of sendAlertNotices(options)) await Promise.resolve()
      const got = host.requests.slice(seen).map(({ body }) => JSON.parse(`${body}`))
      seen = host.requests.length
      return got
    },
    raise: (over: Partial<OperatorAlertRow>) =>
      run('raiseAlert', {
        ...{ ...DISK, hour: hourOf(clock.now()), sourceIp: '', raisedAt: clock.now(), mxHost: null },
        ...over,
      }),
    end: (kind = 'disk-space') => run('endAlerts', { kind, except: [], at: clock.now() }),
    silence: (forMs: number, over: object = {}) =>
      run('silenceAlerts', {
        ...{ kind: 'disk-space', provider: '', sourceIp: '', until: clock.now() + forMs },
        ...{ createdBy: 'root@ops.example', createdAt: clock.now(), ...over },
      }),
  }
}

const types = (bodies: { type: string }[]) => bodies.map(({ type }) => type)

test('an alert is sent when it is raised, again after a day while it lasts, and when it is over', async t => {
  const { clock, round, raise, end } = await open(t)
  assert.equal(await round(), [])
  const since = clock.now()
  await raise({})
  const [{ id, ...raised }] = await round()
  assert.match(id, /^alr_[0-9a-f-]{36}$/)
  assert.equal(raised, {
    type: 'alert.raised',
    created_at: new Date(clock.now()).toISOString(),
    ...{ kind: 'disk-space', provider: '/data', account_id: null, source_ip: null },
    ...{ title: 'The disk is nearly full.', severity: 'critical', text: 'No space is left.', domain: null },
    ...{ since: new Date(since).toISOString(), resolved_at: null },
    url: 'https://mail.example.com/dashboard/deliverability',
    installation: 'mail.example.com',
  })
  await raise({})
  assert.equal(await round(), [], 'it still lasts')
  clock.advance(23 * HOUR_MS)
  await raise({ reply: 'Still none.' })
  assert.equal(await round(), [])
  clock.advance(HOUR_MS)
  await raise({ reply: 'Still none.' })
  const [repeated] = await round()
  assert.equal(
    [repeated.type, repeated.since, repeated.text],
    ['alert.repeated', raised.since, 'Still none.'],
  )
  await end()
  const overAt = clock.now()
  const [ended] = await round()
  assert.equal(
    [ended.type, ended.since, ended.resolved_at],
    ['alert.ended', raised.since, new Date(overAt).toISOString()],
  )
  assert.is(new Set([id, repeated.id, ended.id]).size, 3)
  assert.equal(await round(2 * DAY_MS), [])
  await raise({})
  assert.equal(types(await round()), ['alert.raised'], 'it is there once more')
})

test('what no receiver took is sent again later with the same id and the same body', async t => {
  const { round, raise, receiver, host, logged } = await open(t)
  receiver.status = 503
  await raise({})
  const [first] = await round()
  const [{ event, answer }] = logged as [{ event: string; answer: string }]
  assert.equal([event, answer], ['alert_webhook_failed', 'HTTP 503: said'])
  const [second] = await round()
  assert.equal(second, first)
  assert.equal(await round(), [], 'the third attempt is five minutes later')
  receiver.status = 204
  assert.equal(await round(5 * MINUTE_MS), [first])
  assert.equal(await round(10 * HOUR_MS), [], 'it was taken')
  assert.is(new Set(host.requests.map(({ headers }) => headers['svc-id'])).size, 1)
})

test('after eight attempts it is given up, and the repetition is a new message', async t => {
  const { round, raise, receiver, logged, clock } = await open(t)
  receiver.status = 500
  await raise({})
  const ids = new Set<string>()
  for (let attempt = 1; attempt <= 8; attempt++) for (const { id } of await round(11 * HOUR_MS)) ids.add(id)
  assert.is(ids.size, 1)
  assert.equal(logged.map(({ event }) => event).slice(-2), ['alert_webhook_failed', 'alert_webhook_given_up'])
  receiver.status = 200
  await raise({ hour: hourOf(clock.now()) })
  const [repeated] = await round()
  assert.is(repeated.type, 'alert.repeated')
  assert.not(ids.has(repeated.id))
})

test('a message that a stopped process had begun is sent again after its lease, with its id', async t => {
  const { round, raise, store, clock } = await open(t)
  await raise({})
  const now = clock.now()
  const terms = { now, until: now + MINUTE_MS, repeatMs: DAY_MS, limit: 5 }
  const [begun] = await store.run('claimAlertNotices', terms)
  assert.is(begun!.event, 'raised')
  assert.equal(await store.run('claimAlertNotices', terms), [], 'no other process sends it meanwhile')
  const got = await round()
  assert.equal(types(got), ['alert.raised'])
  await store.run('settleAlertNotice', { id: begun!.id, attempts: 1, dueAt: clock.now() })
  assert.equal(await round(), [], 'a late result of the first attempt changes nothing')
})

test('an end that comes before the alert was taken replaces it', async t => {
  const { round, raise, end, receiver } = await open(t)
  receiver.status = 500
  await raise({})
  await round()
  await end()
  receiver.status = 200
  assert.equal(types(await round()), ['alert.ended'])
  assert.equal(await round(DAY_MS), [])
})

test('a silenced alert is not sent, and is sent when the silence is over while it lasts', async t => {
  const { round, raise, end, silence } = await open(t)
  await silence(10 * MINUTE_MS)
  await raise({})
  assert.equal(await round(), [])
  assert.equal(types(await round(10 * MINUTE_MS)), ['alert.raised'])
  await silence(10 * MINUTE_MS)
  await end()
  assert.equal(await round(), [], 'its end is silent, too')
  assert.equal(await round(20 * MINUTE_MS), [])
})

test('a message that waits for its next attempt is dropped by a silence', async t => {
  const { round, raise, end, silence, receiver } = await open(t)
  receiver.status = 500
  await raise({})
  await raise(BLOCKED)
  await round()
  receiver.status = 200
  await silence(HOUR_MS)
  await silence(HOUR_MS, { kind: 'ip-reputation' })
  await end()
  assert.equal(await round(30 * MINUTE_MS), [])
  assert.equal(await round(30 * MINUTE_MS), [], 'the silence is over, and so is its cause')
})

test('a reply of a mail server has no end, and is sent once a day at most', async t => {
  const { round, raise, clock, silence } = await open(t)
  await raise(BLOCKED)
  await raise({ ...BLOCKED, provider: 'google' })
  assert.equal((await round()).map(({ type, provider }) => [type, provider].join(' ')).sort(), [
    'alert.raised google',
    'alert.raised outlook',
  ])
  clock.advance(HOUR_MS)
  await raise(BLOCKED)
  assert.equal(await round(), [])
  assert.equal(await round(DAY_MS), [], 'it was not raised since')
  await raise(BLOCKED)
  assert.equal(types(await round()), ['alert.raised'])
  clock.advance(DAY_MS)
  await silence(HOUR_MS, { kind: 'ip-reputation' })
  await raise(BLOCKED)
  await round()
  assert.equal(await round(HOUR_MS), [], 'what was raised in a silence is not sent after it')
})

test('a new webhook gets the alerts of the last day, and nothing older', async t => {
  const { round, raise, clock } = await open(t)
  await raise(BLOCKED)
  await raise({ ...DISK, kind: 'clock', provider: '' })
  clock.advance(2 * DAY_MS)
  await raise({ ...BLOCKED, provider: 'google' })
  await raise({})
  assert.equal((await round()).map(({ kind, provider }) => [kind, provider].join(' ')).sort(), [
    'disk-space /data',
    'ip-reputation google',
  ])
})

test('requests are signed as other webhooks are, by both schemes', async t => {
  const { round, raise, host } = await open(t, { secret: SECRET })
  await raise({})
  await round()
  const [{ headers, body }] = host.requests as [(typeof host.requests)[number]]
  const time = headers['svc-timestamp']
  assert.is(headers['svc-signature'], createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex'))
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  const signed = createHmac('sha256', key).update(`${headers['webhook-id']}.${time}.${body}`).digest('base64')
  assert.is(headers['webhook-signature'], `v1,${signed}`)
  assert.is(headers['webhook-id'], JSON.parse(`${body}`).id)
})

test('without a secret, a request has its id and no signature', async t => {
  const { round, raise, host } = await open(t)
  await raise({})
  const [{ id }] = await round()
  const { headers } = host.requests[0]!
  assert.equal([headers['svc-id'], headers['webhook-id']], [id, id])
  assert.equal([headers['svc-signature'], headers['webhook-signature']], [undefined, undefined])
})

test('Slack gets a text in which nothing of a reply is markup', async t => {
  const { round, raise, end } = await open(t, { format: 'slack' })
  await raise(BLOCKED)
  assert.equal(await round(), [
    {
      text:
        '*A mailbox provider reports a poor IP reputation.* (outlook, there.example)\n550 &lt;S3150&gt;\n' +
        'mail.example.com, warning, since 2026-11-21 13:00 UTC. <https://mail.example.com/dashboard/deliverability|Open the dashboard>',
    },
  ])
  await raise({})
  await round()
  await end()
  const [{ text }] = await round()
  assert.match(text, /^\*Resolved: The disk is nearly full\.\* \(\/data\)\n/)
  assert.match(text, /critical, since 2026-11-21 13:01 UTC until 2026-11-21 13:02 UTC\./)
})

test.run()
