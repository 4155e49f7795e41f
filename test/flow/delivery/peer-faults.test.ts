import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/**
 * Each is a fault that another platform has: it loses mail, or good addresses. Outages of hours, of hosts and
 * of name servers, are in test/unit/pipeline/delivery/outages.test.ts, kills after the remote 250 in
 * test/faults/kill.test.ts.
 */
const test = suite('peer faults')
const MINUTE_MS = 60_000

const HOSTS = {
  octets: '550 mail from 5.1.1.7 refused by [5.1.1.1]',
  listed: '550 5.7.1 your address is blocked using zen.spamhaus.org',
  greylist: '451 4.7.1 Greylisted, please come back in 00:05:00',
  exchange: '550 5.4.1 Recipient address rejected: Access denied',
  /** It takes all mail, and shows a certificate that nobody vouches for. */
  selfSigned: undefined,
}
type Name = keyof typeof HOSTS

const names = Object.keys(HOSTS) as Name[]
const ZONE = names
  .map((name, i) => `${name}.example MX 10 mx.${name}.example\nmx.${name}.example A 127.0.0.${i + 2}`)
  .join('\n')

const hosts = {} as Record<Name, FakeMx>
let mailhorn: Mailhorn
let session = ''

test.before(async () => {
  let port: number | undefined
  for (const [i, name] of names.entries()) {
    const firstOnly = name === 'greylist'
    hosts[name] = await startFakeMx({
      host: `127.0.0.${i + 2}`,
      ...(port === undefined ? {} : { port }),
      tls: name === 'selfSigned' ? 'self-signed' : 'off',
      at: { rcpt: times => (firstOnly && times > 0 ? undefined : HOSTS[name]) },
    })
    port = hosts[name].port
  }
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: port! })
  await mailhorn.verifiedDomain('here.example')
  session = await mailhorn.signIn()
})

test.after(async () => {
  await mailhorn.close()
  for (const name of names) await hosts[name].close()
})

const send = (name: Name) =>
  mailhorn.send({ from: 'ann@here.example', to: `bob@${name}.example`, subject: 'hi', text: 'hi' })

const suppressed = (name: Name) =>
  mailhorn.rows('select 1 from suppressions where email = ?', `bob@${name}.example`).length > 0

test('an IP address in a reply is not read as a status code, and no address is suppressed', async () => {
  const email = await mailhorn.emailWhen(await send('octets'), 'bounced')
  const { bounce } = email.events.at(-1).data
  assert.equal([bounce.class, bounce.enhanced_code], ['policy', null])
  assert.not.ok(suppressed('octets'))
})

test('a block list refusal suppresses no address, and raises one alert', async () => {
  const first = await mailhorn.emailWhen(await send('listed'), 'bounced')
  await mailhorn.emailWhen(await send('listed'), 'bounced')
  assert.is(first.events.at(-1).data.bounce.class, 'blocked')
  assert.not.ok(suppressed('listed'))
  const { body } = await until(async () => {
    const answer = await mailhorn.call('GET', '/alerts', { session })
    return answer.body.total > 0 ? answer : undefined
  })
  assert.is(body.total, 1)
  const { created_at: createdAt, ...alert } = body.data[0]
  assert.match(createdAt, /Z$/)
  assert.equal(alert, {
    object: 'alert',
    kind: 'ip-reputation',
    provider: 'other',
    source_ip: null,
    mx_host: 'mx.listed.example',
    domain: 'listed.example',
    reply: HOSTS.listed,
    account_id: null,
    account_name: null,
    active: null,
    silence: null,
    ended_at: null,
  })
})

test('alerts are visible to the operator only', async () => {
  const { session: other } = addAccount(mailhorn, 'other')
  assert.is((await mailhorn.call('GET', '/alerts', { session: other })).status, 403)
})

test('greylisted mail is retried after the time that the server names', async () => {
  const id = await send('greylist')
  const delayed = await mailhorn.emailWhen(id, 'delivery_delayed')
  const wait = Date.parse(delayed.recipients[0].next_attempt_at) - Date.parse(delayed.last_event_at)
  assert.ok(wait >= 5 * MINUTE_MS && wait <= 5.5 * MINUTE_MS, `waits ${wait} ms`)
  mailhorn.clock.advance(5.6 * MINUTE_MS)
  assert.is((await mailhorn.emailWhen(id, 'delivered')).recipients[0].attempts, 2)
})

test('an unknown recipient of Exchange is recognized although the reply says access denied', async () => {
  const email = await mailhorn.emailWhen(await send('exchange'), 'bounced')
  assert.is(email.events.at(-1).data.bounce.class, 'invalid-recipient')
  assert.ok(suppressed('exchange'))
})

test('mail is delivered over TLS with an untrusted certificate', async () => {
  const email = await mailhorn.emailWhen(await send('selfSigned'), 'delivered')
  assert.is(email.recipients[0].transcripts.length, 1)
  assert.ok(hosts.selfSigned.messages.every(({ tls }) => tls))
  assert.is(email.events.at(-1).data.delivery.tls, 'TLSv1.3')
})

test('a DNS outage defers all mail and bounces none; all mail arrives afterwards', async () => {
  const domains = ['first', 'second', 'third'].map(name => `${name}.outage.example`)
  mailhorn.zone.add('*.outage.example SERVFAIL')
  const ids = await Promise.all(
    domains.flatMap(domain =>
      ['ann', 'bob', 'eve'].map(name =>
        mailhorn.send({ from: 'ann@here.example', to: `${name}@${domain}`, subject: 'hi', text: 'hi' }),
      ),
    ),
  )
  for (const id of ids) {
    const { events } = await mailhorn.emailWhen(id, 'delivery_delayed')
    assert.match(events.at(-1).data.delay.reply, /SERVFAIL/)
  }
  mailhorn.zone.remove('*.outage.example')
  mailhorn.zone.add('*.outage.example MX 10 mx.selfSigned.example')
  mailhorn.clock.advance(1.1 * MINUTE_MS)
  for (const id of ids)
    assert.equal(
      (await mailhorn.emailWhen(id, 'delivered')).events.map(({ type }: { type: string }) => type),
      ['email.sent', 'email.delivery_delayed', 'email.delivered'],
    )
  assert.equal(mailhorn.rows("select 1 from suppressions where email like '%outage.example'"), [])
})

test.run()
