import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn, zoneText } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('setup of a public installation')
const ZONE = `
  there.test MX 10 mx.there.test
  mx.there.test A 127.0.0.2
  7.113.0.203.in-addr.arpa PTR mail.here.example
`
const ANSWERS = { mail_host: 'Mail.Here.example.', addresses: ['203.0.113.7'], contact: 'ops@here.example' }
let mx: FakeMx
let mailhorn: Mailhorn
let session: string
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: { MAILHORN_DNS_ADDRESSES: '203.0.113.7', MAILHORN_DOCTOR_PROBES: 'there.test' },
  })
  session = await mailhorn.signIn()
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const post = async (path: string, body: object) => mailhorn.call('POST', path, { session, body })

interface Finding {
  check: string
  subject: string | null
  status: string
}

test('before there is a host name, what is known of the host is proposed', async () => {
  const { status, body } = await mailhorn.call('GET', '/setup', { session })
  assert.is(status, 200)
  assert.equal([body.mail_host, body.addresses, body.contact], [null, ['203.0.113.7'], null])
  assert.is(body.https, 'own')
  // the tests may run in a container, too
  assert.ok(['package', 'docker'].includes(body.run), body.run)
})

test('the plan has the settings, commands and records that mailhorn init prints', async () => {
  const { status, body } = await post('/setup/plan', ANSWERS)
  assert.is(status, 200)
  assert.equal([body.mail_host, body.applied, body.warning], ['mail.here.example', false, null])
  assert.equal(
    body.settings.filter(({ name }: { name: string }) => /HOST|ADDRESSES/.test(name)),
    [
      { name: 'MAILHORN_MAIL_HOST', value: 'mail.here.example', in_use: false },
      { name: 'MAILHORN_DNS_ADDRESSES', value: '203.0.113.7', in_use: true },
    ],
  )
  assert.equal([body.settings_file, body.unit], ['/etc/mailhorn.env', null])
  assert.equal(body.reverse_names, [{ address: '203.0.113.7', name: 'mail.here.example' }])
  assert.equal(body.dns_records.slice(1, 3), [
    { name: 'mail.here.example.', type: 'NS', value: 'ns2.mail.here.example.' },
    { name: 'ns1.mail.here.example.', type: 'A', value: '203.0.113.7' },
  ])
  const listen = ({ body }: { body: { settings: { name: string; value: string }[] } }) =>
    body.settings.find(({ name }) => name === 'MAILHORN_DNS_LISTEN')!.value
  assert.is(
    listen(await post('/setup/plan', { ...ANSWERS, private_addresses: [] })),
    listen(await post('/setup/plan', ANSWERS)),
    'an empty list is the default',
  )
  assert.match(body.firewall, /^ufw allow 25,53,80,443,465,587\/tcp && ufw allow 53\/udp$/m)
  const docker = await post('/setup/plan', { ...ANSWERS, run: 'docker', mail_host: 'here.example' })
  assert.is(docker.body.restart, 'docker compose up -d')
  assert.match(docker.body.warning, /^here\.example is a registered domain/)
})

for (const [change, path, message] of [
  [{ mail_host: 'localhost' }, 'mail_host', /"localhost" is not a host name/],
  [{ addresses: ['10.0.0.5'] }, 'addresses', /10\.0\.0\.5 is not a public address; behind NAT/],
  [{ addresses: [] }, 'addresses', /Missing `addresses`|at least/],
  [{ private_addresses: ['10.0.0'] }, 'private_addresses', /"10\.0\.0" is not an IP address/],
  [{ private_addresses: ['::1'] }, 'private_addresses', /::1 is a loopback address/],
  [{ contact: 'ops' }, 'contact', /"ops" is not an email address/],
  [{ run: 'podman' }, 'run', /podman/],
] as const)
  test(`an answer that is not valid is refused by its name: ${JSON.stringify(change)}`, async () => {
    for (const place of ['/setup/plan', '/setup/checks']) {
      const { status, body } = await post(place, { ...ANSWERS, ...change })
      assert.is(status, 422, place)
      assert.is(body.errors[0].path, path)
      assert.match(body.message, message)
    }
  })

test('until the service has the settings, the host is checked for them; then the installation is', async t => {
  const { body: before } = await post('/setup/checks', ANSWERS)
  assert.is(before.object, 'doctor')
  const of = (findings: Finding[], check: string) => findings.filter(finding => finding.check === check)
  assert.equal(
    of(before.findings, 'reverse_name').map(({ subject, status }) => [subject, status]),
    [['203.0.113.7', 'ok']],
  )
  assert.equal(of(before.findings, 'outbound_port')[0]!.status, 'ok')
  assert.is(of(before.findings, 'ports').length > 0, true)
  assert.equal(of(before.findings, 'service'), [], 'the running service is not the one of the answers')

  const port = await freePort()
  const env = {
    MAILHORN_HTTP_LISTEN: `127.0.0.1:${port}`,
    MAILHORN_MAIL_HOST: 'mail.here.example',
    MAILHORN_ADMIN_EMAIL: mailhorn.admin.email,
    MAILHORN_HTTP_BASE_URL: 'https://mail.here.example/',
    MAILHORN_DNS_ADDRESSES: '203.0.113.7',
  }
  const named = await t.using(startMailhorn({ zone: ZONE, mxPort: mx.port, env }))
  named.baseUrl = `http://127.0.0.1:${port}`
  const operator = await named.signIn()
  const asked = async (path: string) =>
    (await named.call('POST', path, { session: operator, body: ANSWERS })).body
  assert.is((await asked('/setup/plan')).applied, true)
  assert.is(of((await asked('/setup/checks')).findings, 'service').length, 1)
  const { body: known } = await named.call('GET', '/setup', { session: operator })
  assert.is(known.mail_host, 'mail.here.example')
})

test('the test email waits for the records of its domain, then tells its id; its reply is that of the MX host', async () => {
  const mail = { from: 'mailhorn@shop.example', to: ['ann@there.test'] }
  const unknown = await post('/setup/test-email', mail)
  assert.equal([unknown.status, unknown.body.errors[0].path], [422, 'from'])
  const nobody = await post('/setup/test-email', { ...mail, to: ['ann@there.test', 'nobody'] })
  assert.equal([nobody.status, nobody.body.errors[0].path], [422, 'to[1]'])

  const { body: domain } = await post('/domains', { name: 'shop.example' })
  const { body: early } = await post('/setup/test-email', mail)
  assert.equal([early.object, early.id, early.domain], ['test_email', null, 'shop.example'])
  assert.ok(early.missing.some(({ host }: { host: string }) => host === '_svc.shop.example'))

  const records: (Parameters<typeof zoneText>[0][number] & { record: string })[] = domain.records
  mailhorn.zone.add(zoneText(records.filter(({ record }) => record !== 'SPF' && record !== 'MX')))
  mailhorn.clock.advance(61_000)
  const { body: partial } = await post('/setup/test-email', { ...mail, all_records: true })
  assert.is(partial.id, null)
  assert.ok(partial.missing.every(({ host }: { host: string }) => host === 'send.shop.example'))

  mailhorn.zone.add(zoneText(records.filter(({ record }) => record === 'SPF' || record === 'MX')))
  mailhorn.clock.advance(61_000)
  const { body: sent } = await post('/setup/test-email', { ...mail, all_records: true })
  assert.equal([sent.missing, sent.from], [[], 'mailhorn@shop.example'])
  const email = await mailhorn.emailWhen(sent.id, 'delivered')
  assert.is(email.subject, 'Test email from shop.example')
  assert.ok(mx.messages.some(({ rcptTo }) => rcptTo.includes('ann@there.test')))
})

test('nobody but an operator may', async () => {
  const { session: other } = addAccount(mailhorn, 'Other')
  for (const [method, path, body] of [
    ['GET', '/setup', undefined],
    ['POST', '/setup/plan', ANSWERS],
    ['POST', '/setup/checks', ANSWERS],
    ['POST', '/setup/test-email', { from: 'mailhorn@shop.example', to: ['ann@there.test'] }],
  ] as const) {
    const { status, body: reply } = await mailhorn.call(method, path, {
      session: other,
      ...(body && { body }),
    })
    assert.equal([status, reply.name], [403, 'invalid_access'], path)
  }
})

test.run()
