import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startWebHost, type WebHost } from '../../kit/web-host.ts'

const test = suite('TLS of deliveries')

const ZONE = `
  good.test          MX 10 mx1.there.test
  expired.test       MX 10 mx2.there.test
  plain.test         MX 10 mx3.there.test
  both.test          MX 10 mx2.there.test
  both.test          MX 20 mx1.there.test
  mx1.there.test     A 127.0.0.2
  mx2.there.test     A 127.0.0.3
  mx3.there.test     A 127.0.0.4
  there.test         MX 10 mx2.there.test
  there.test         MX 20 mx1.there.test
  _mta-sts.there.test TXT "v=STSv1; id=1"
  mta-sts.there.test  A 127.0.0.1
  example.test       MX 10 mx2.there.test
  _mta-sts.example.test TXT "v=STSv1; id=1"
  mta-sts.example.test  A 127.0.0.1
`
const POLICY = (mode: string, mx: string) => `version: STSv1\nmode: ${mode}\nmx: ${mx}\nmax_age: 86400\n`
const CA_FILE = new URL('../../kit/certs/ca.pem', import.meta.url).pathname

let good: FakeMx
let expired: FakeMx
let plain: FakeMx
let mailhorn: Mailhorn
let strictId: string
let policyHost: WebHost
const policies = new Map<string, string>()

test.before(async () => {
  good = await startFakeMx({ host: '127.0.0.2', tls: 'good', extensions: ['REQUIRETLS', 'DSN', 'CHUNKING'] })
  expired = await startFakeMx({ host: '127.0.0.3', port: good.port, tls: 'expired' })
  plain = await startFakeMx({ host: '127.0.0.4', port: good.port })
  policies.set('mta-sts.there.test', POLICY('enforce', 'mx1.there.test'))
  policies.set('mta-sts.example.test', POLICY('enforce', '*.there.test'))
  policyHost = await startWebHost({
    answer({ headers }, response) {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.end(policies.get(headers.host!.replace(/:.*/, '')))
    },
  })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: good.port,
    env: {
      MAILHORN_DELIVERY_CA_FILE: CA_FILE,
      MAILHORN_DELIVERY_POLICY_PORT: String(policyHost.port),
      MAILHORN_FETCH_ALLOW_LOOPBACK: 'true',
    },
  })
  await mailhorn.verifiedDomain('here.example')
  strictId = (await mailhorn.verifiedDomain('strict.example')).id
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('PATCH', `/domains/${strictId}`, {
    session,
    body: { tls: 'enforced' },
  })
  assert.is(body.tls, 'enforced')
})

test.after(async () => {
  await mailhorn.close()
  for (const host of [good, expired, plain, policyHost]) await host.close()
})

function send(from: string, to: string, headers?: Record<string, string>) {
  return mailhorn.send({ from: `ann@${from}`, to, subject: 'hi', text: 'hi', headers })
}

async function firstTranscript(id: string) {
  return until(async () => (await mailhorn.email(id)).recipients[0].transcripts[0])
}

test('by default mail is delivered over TLS with an expired certificate, or in plain text', async () => {
  for (const to of ['a@expired.test', 'a@plain.test'])
    await mailhorn.emailWhen(await send('here.example', to), 'delivered')
  assert.is(expired.messages.at(-1)!.tls, true)
  assert.is(plain.messages.at(-1)!.tls, false)
})

test('the transcript has each phase with its reply and duration, and the TLS parameters', async () => {
  const id = await send('here.example', 'b@good.test')
  const email = await mailhorn.emailWhen(id, 'delivered')
  const [attempt] = email.recipients[0].transcripts
  const [host] = attempt.hosts
  assert.is(attempt.outcome, 'delivered')
  assert.equal(
    [host.host, host.ip, host.policy, host.tls_fallback],
    ['mx1.there.test', '127.0.0.2', 'none', null],
  )
  assert.equal([host.tls.version, host.tls.verified, host.tls.reason], ['TLSv1.3', true, null])
  assert.equal(
    host.phases.map(({ phase }: { phase: string }) => phase),
    ['connect', 'banner', 'ehlo', 'starttls', 'tls', 'mail', 'rcpt', 'data', 'body', 'final-dot'],
  )
  assert.match(host.phases[1].reply, /^220 /)
  assert.match(host.phases.at(-1).reply, /^250 2.0.0 taken/)
  assert.is(good.messages.at(-1)!.params.get('ENVID'), id)
})

test('a domain that enforces TLS sends to no host with an unverified certificate', async () => {
  const id = await send('strict.example', 'c@expired.test')
  const attempt = await firstTranscript(id)
  assert.is(attempt.outcome, 'deferred')
  assert.equal([attempt.hosts[0].policy, attempt.hosts[0].tls], ['domain', null])
  assert.match(attempt.reply, /expired/)
  assert.not.ok(expired.messages.some(({ rcptTo }) => rcptTo[0] === 'c@expired.test'))
  await mailhorn.clock.advance(49 * 3_600_000)
  const email = await mailhorn.emailWhen(id, 'failed')
  assert.match(email.error, /^expired after 48 h: .*expired/)
})

test('a domain that enforces TLS never sends in plain text, and uses the host that meets the policy', async () => {
  const toPlain = await firstTranscript(await send('strict.example', 'd@plain.test'))
  assert.match(toPlain.reply, /does not offer STARTTLS/)
  const email = await mailhorn.emailWhen(await send('strict.example', 'd@both.test'), 'delivered')
  assert.equal(
    email.recipients[0].transcripts[0].hosts.map(({ host }: { host: string }) => host),
    ['mx2.there.test', 'mx1.there.test'],
  )
})

test('TLS-Required: No is sent with the message and does not weaken what its domain enforces', async () => {
  const headers = { 'TLS-Required': 'No' }
  await mailhorn.emailWhen(await send('here.example', 'e@expired.test', headers), 'delivered')
  assert.match(expired.messages.at(-1)!.headers, /^TLS-Required: No\r$/m)
  assert.is(
    (await firstTranscript(await send('strict.example', 'e@expired.test', headers))).outcome,
    'deferred',
  )
})

test('a domain with an MTA-STS policy gets mail over its listed hosts, with verified certificates', async () => {
  const email = await mailhorn.emailWhen(await send('here.example', 'f@there.test'), 'delivered')
  const { hosts } = email.recipients[0].transcripts[0]
  assert.equal(
    hosts.map(({ host, policy, tls }: { host: string; policy: string; tls: { verified: boolean } }) => [
      host,
      policy,
      tls.verified,
    ]),
    [['mx1.there.test', 'mta-sts', true]],
  )
})

test('if no host meets the policy the message is deferred, unless it waives TLS requirements', async () => {
  const attempt = await firstTranscript(await send('here.example', 'g@example.test'))
  assert.equal([attempt.outcome, attempt.hosts[0].policy], ['deferred', 'mta-sts'])
  assert.match(attempt.reply, /expired/)
  await mailhorn.emailWhen(
    await send('here.example', 'h@example.test', { 'TLS-Required': 'No' }),
    'delivered',
  )
})

test('an MTA-STS policy in testing mode does not defer mail', async () => {
  policies.set('mta-sts.example.test', POLICY('testing', '*.there.test'))
  mailhorn.zone.remove('_mta-sts.example.test')
  mailhorn.zone.add('_mta-sts.example.test TXT "v=STSv1; id=2"')
  mailhorn.clock.advance(61_000)
  await mailhorn.emailWhen(await send('here.example', 'i@example.test'), 'delivered')
})

test('a message with REQUIRETLS is sent only to hosts that offer it', async () => {
  const headers = { 'TLS-Required': 'Yes' }
  await mailhorn.emailWhen(await send('here.example', 'j@there.test', headers), 'delivered')
  assert.ok(good.messages.at(-1)!.params.has('REQUIRETLS'))
  assert.not.match(good.messages.at(-1)!.headers, /TLS-Required/)
  const email = await mailhorn.emailWhen(await send('here.example', 'j@good.test', headers), 'bounced')
  assert.match(email.error, /^5\.7\.30 .*good\.test secures the names of its hosts neither/)
})

test('an unknown domain is 404, and an invalid setting is named', async () => {
  const session = await mailhorn.signIn()
  const patch = (id: string, body: unknown) => mailhorn.call('PATCH', `/domains/${id}`, { session, body })
  assert.is((await patch('dom_00000000000000000000000000', { tls: 'enforced' })).status, 404)
  const refused = await patch(strictId, { tls: 'sometimes' })
  assert.equal([refused.status, refused.body.errors[0].path], [422, 'tls'])
  const { body } = await patch(strictId, { open_tracking: true })
  assert.equal([body.tls, body.open_tracking, body.click_tracking], ['enforced', true, false])
})

test.run()
