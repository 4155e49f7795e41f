import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('smart host')

const CA_FILE = new URL('../../kit/certs/ca.pem', import.meta.url).pathname
const PASSWORD = 'p@ss/wörd'
const SECRETS = [PASSWORD, Buffer.from(PASSWORD).toString('base64'), encodeURIComponent(PASSWORD)]
const MINUTE_MS = 60_000

const ZONE = `
  relay.there.test   A 127.0.0.2
  big.there.test     A 127.0.0.3
  direct.example     MX 10 mx.there.test
  mx.there.test      A 127.0.0.4
  null.example       MX 0 .
`

const login = { user: 'ann@here.example', password: PASSWORD }
let relay: FakeMx
let other: FakeMx
let mx: FakeMx
let mailhorn: Mailhorn
let folder: string

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'smart-host-'))
  relay = await startFakeMx({ host: '127.0.0.2', tls: 'good', login })
  other = await startFakeMx({ host: '127.0.0.3', tls: 'good', implicitTls: true, login: { ...login } })
  mx = await startFakeMx({ host: '127.0.0.4', tls: 'off' })
  const [general, big, config] = ['general', 'big', 'config.json'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const userInfo = `${encodeURIComponent(login.user)}:${encodeURIComponent(PASSWORD)}`
  writeFileSync(general, `smtp://${userInfo}@relay.there.test:${relay.port}\n`)
  writeFileSync(big, `smtps://${userInfo}@big.there.test:${other.port}\n`)
  const domains = { big: { domains: ['*.big.example'] }, none: { domains: ['direct.example'] } }
  writeFileSync(config, JSON.stringify({ smart_hosts: domains }))
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: {
      MAILHORN_CONFIG: config,
      MAILHORN_DELIVERY_ALLOW_PRIVATE_ADDRESSES: 'false',
      MAILHORN_DELIVERY_CA_FILE: CA_FILE,
      MAILHORN_DELIVERY_SMART_HOST_FILE: general,
      MAILHORN_SMART_HOSTS_BIG_URL_FILE: big,
    },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  for (const host of [relay, other, mx]) await host.close()
  rmSync(folder, { recursive: true })
})

function send(to: string, headers?: Record<string, string>) {
  return mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hi', headers })
}

/** Drops the sessions that are kept, so that the next delivery needs a new one. */
async function afterIdle() {
  const count = () => relay.transcript.filter(line => /C: QUIT/.test(line)).length
  const before = count()
  mailhorn.clock.advance(MINUTE_MS)
  await until(() => count() > before)
}

test('mail for any domain is sent to the smart host with a login, although its address is private', async () => {
  const email = await mailhorn.emailWhen(await send('ok@anywhere.example'), 'delivered')
  const [recipient] = email.recipients
  assert.is(recipient.mx_host, 'relay.there.test')
  const [host] = recipient.transcripts[0].hosts
  assert.is(host.policy, 'smart-host')
  assert.is(host.tls.verified, true)
  assert.match(host.phases.find(({ phase }: { phase: string }) => phase === 'auth').reply, /^235 /)
  const taken = relay.messages.at(-1)!
  assert.equal([taken.rcptTo, taken.tls], [['ok@anywhere.example'], true])
  assert.match(taken.headers, /^DKIM-Signature:/m)
  assert.equal(relay.violations, [])
})

test('replies about recipients count like those of an MX host', async () => {
  const email = await mailhorn.emailWhen(await send('perm-550-511@anywhere.example'), 'bounced')
  assert.is(email.events.at(-1).data.bounce.enhanced_code, '5.1.1')
  const delayed = await mailhorn.emailWhen(await send('grey-1@anywhere.example'), 'delivery_delayed')
  mailhorn.clock.advance(6 * MINUTE_MS)
  await mailhorn.emailWhen(delayed.id, 'delivered')
})

test('a domain may have its own smart host, or none', async () => {
  const email = await mailhorn.emailWhen(await send('ok@a.big.example'), 'delivered')
  assert.is(email.recipients[0].mx_host, 'big.there.test')
  assert.equal(other.violations, [])
  const direct = await mailhorn.emailWhen(await send('ok@direct.example'), 'bounced')
  assert.match(direct.error, 'mx.there.test has the private address 127.0.0.4')
  assert.is(mx.sessionCount, 0)
})

test('TLS policies of the recipient domain are left to the smart host', async () => {
  await mailhorn.emailWhen(await send('ok@null.example'), 'delivered')
})

test('simulated mail is not sent', async () => {
  const before = relay.transcript.length
  await mailhorn.emailWhen(await send('delivered@simulator.test'), 'delivered')
  assert.is(relay.transcript.length, before)
})

test('REQUIRETLS is required of a smart host, too', async () => {
  const email = await mailhorn.emailWhen(
    await send('ok@anywhere.example', { 'TLS-Required': 'Yes' }),
    'bounced',
  )
  assert.match(email.error, '5.7.30')
})

test('a refused login defers mail and raises an alert; the password is not disclosed', async t => {
  t.after(() => {
    login.password = PASSWORD
  })
  await afterIdle()
  login.password = 'changed'
  const id = await send('ok@anywhere.example')
  const email = await mailhorn.emailWhen(id, 'delivery_delayed')
  assert.match(email.recipients[0].reply, /^535 5.7.8 \(?/)
  const session = await mailhorn.signIn()
  const alerts = await until(async () => {
    const { body } = await mailhorn.call('GET', '/alerts', { session })
    return body.data.length > 0 ? body.data : undefined
  })
  assert.equal([alerts[0].kind, alerts[0].mx_host], ['smart-host-login', 'relay.there.test'])

  const stored = ['attempts', 'events', 'deliveries', 'operator_alerts', 'destination_states'].map(table =>
    mailhorn.rows(`select * from ${table}`),
  )
  const told = JSON.stringify([stored, email, alerts])
  assert.match(told, '535 5.7.8')
  for (const secret of SECRETS) assert.not.match(told, secret)

  login.password = PASSWORD
  mailhorn.clock.advance(2 * MINUTE_MS)
  await mailhorn.emailWhen(id, 'delivered')
})

test('when the smart host answers again, waiting mail of all domains is sent', async t => {
  t.after(() => {
    login.password = PASSWORD
  })
  await afterIdle()
  login.password = 'changed'
  const ids: string[] = []
  for (const number of [1, 2, 3, 4, 5]) {
    ids.push(await send(`ok@kept${number}.example`))
    await mailhorn.emailWhen(ids.at(-1)!, 'delivery_delayed')
  }
  ids.push(await send('ok@waiting.example'))
  login.password = PASSWORD
  const session = await mailhorn.signIn()
  const { body } = await until(async () => {
    const reply = await mailhorn.call('POST', '/destinations/resume', {
      session,
      body: { destination: 'smart-host' },
    })
    return reply.body.resumed ? reply : undefined
  })
  assert.is(body.destination, 'smart-host')
  for (const id of ids) await mailhorn.emailWhen(id, 'delivered')
})

test.run()
