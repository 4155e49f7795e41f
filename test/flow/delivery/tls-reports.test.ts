import { gunzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startWebHost } from '../../kit/web-host.ts'

const test = suite('TLS reports')
const DAY_MS = 24 * 3_600_000
const CA_FILE = new URL('../../kit/certs/ca.pem', import.meta.url).pathname
const POLICY = 'version: STSv1\nmode: testing\nmx: mx1.there.test\nmx: *.example.test\nmax_age: 86400\n'

async function open(t: TestContext, env: Record<string, string> = {}) {
  const good = await t.using(startFakeMx({ host: '127.0.0.2', tls: 'good' }))
  const expired = await t.using(startFakeMx({ host: '127.0.0.3', port: good.port, tls: 'expired' }))
  const web = await t.using(
    startWebHost({
      answer({ method }, response) {
        response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'text/plain' })
        response.end(method === 'POST' ? '' : POLICY)
      },
    }),
  )
  const zone = `
    there.test            MX 10 mx1.there.test
    _mta-sts.there.test   TXT "v=STSv1; id=1"
    mta-sts.there.test    A 127.0.0.1
    _smtp._tls.there.test TXT "v=TLSRPTv1; rua=mailto:tls@reports.test,https://posted.there.test:${web.port}/tls"
    posted.there.test     A 127.0.0.1
    example.test          MX 10 mx2.example.test
    _smtp._tls.example.test TXT "v=TLSRPTv1; rua=mailto:tls@reports.test"
    silent.test           MX 10 mx1.there.test
    reports.test          MX 10 mx1.there.test
    mx1.there.test        A 127.0.0.2
    mx2.example.test      A 127.0.0.3
  `
  const mailhorn = await t.using(
    startMailhorn({
      zone,
      mxPort: good.port,
      env: {
        MAILHORN_DELIVERY_CA_FILE: CA_FILE,
        MAILHORN_DELIVERY_POLICY_PORT: String(web.port),
        MAILHORN_FETCH_ALLOW_LOOPBACK: 'true',
        MAILHORN_DELIVERY_TLS_REPORTS_FROM: 'tls-reports@here.example',
        ...env,
      },
    }),
  )
  await mailhorn.verifiedDomain('here.example')
  for (const to of ['a@there.test', 'a@example.test', 'a@silent.test']) {
    const id = await mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hi' })
    await mailhorn.emailWhen(id, 'delivered')
  }
  const counted = () =>
    mailhorn
      .rows<{ domain: string }>('select distinct domain from tls_results order by domain')
      .map(row => row.domain)
  return { good, expired, web, mailhorn, counted }
}

/** The file inside a mailed report. */
function reportIn(data: Buffer) {
  const [, base64] = /Content-Type: application\/tlsrpt\+gzip[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(
    `${data}`,
  )!
  return JSON.parse(`${gunzipSync(Buffer.from(base64!, 'base64'))}`)
}

test('domains that ask for reports get them the next day, by signed mail and by POST', async t => {
  const { good, mailhorn, counted, web } = await open(t)
  await untilCounted(mailhorn, counted, 2)
  assert.equal(counted(), ['example.test', 'there.test'])
  mailhorn.clock.advance(DAY_MS + 5 * 3_600_000)
  const reports = await until(() => {
    const found = good.messages.filter(({ rcptTo }) => rcptTo[0] === 'tls@reports.test')
    return found.length === 2 ? found : undefined
  })
  const there = reports.find(({ headers }) => /TLS-Report-Domain: there\.test/.test(headers))!
  for (const field of [
    /^From: tls-reports@here\.example\r$/m,
    /^Subject: Report Domain: there\.test Submitter: mailhorn\.test/m,
    /^TLS-Report-Submitter: mailhorn\.test\r$/m,
    /^TLS-Required: No\r$/m,
    /^Content-Type: multipart\/report;/m,
    /report-type="?tlsrpt"?/,
    /^DKIM-Signature: /m,
  ])
    assert.match(there.headers, field)
  const report = reportIn(there.data)
  assert.is(report['organization-name'], 'mailhorn.test')
  const [policy] = report.policies
  assert.equal(policy.policy, {
    'policy-type': 'sts',
    'policy-domain': 'there.test',
    'policy-string': [
      'version: STSv1',
      'mode: testing',
      'mx: mx1.there.test',
      'mx: *.example.test',
      'max_age: 86400',
    ],
    'mx-host': ['mx1.there.test', '*.example.test'],
  })
  assert.equal(policy.summary, { 'total-successful-session-count': 1, 'total-failure-session-count': 0 })
  await until(() => counted().length === 0)
  const posts = web.requests.filter(({ method }) => method === 'POST')
  assert.equal(
    posts.map(({ path, headers }) => [path, headers['content-type']]),
    [['/tls', 'application/tlsrpt+gzip']],
  )
  assert.equal(JSON.parse(`${gunzipSync(posts[0]!.body)}`), report)
})

test('an invalid report address of one domain does not affect others', async t => {
  const { good, mailhorn, counted } = await open(t)
  await untilCounted(mailhorn, counted, 2)
  mailhorn.zone.remove('_smtp._tls.example.test')
  mailhorn.zone.add('_smtp._tls.example.test TXT "v=TLSRPTv1; rua=mailto:tls@reports.test%zz"')
  mailhorn.clock.advance(DAY_MS + 5 * 3_600_000)
  await until(() => good.messages.some(({ headers }) => /TLS-Report-Domain: there\.test/.test(headers)))
  await until(() => counted().length === 0)
})

/** A timer that is set after the clock has been moved needs a further move. */
async function untilCounted(mailhorn: Mailhorn, counted: () => unknown[], count: number) {
  await until(() => {
    if (counted().length === count) return true
    mailhorn.clock.advance(61_000)
    return false
  })
}

test('while the sender domain is not verified, results are kept for some days', async t => {
  const { mailhorn, counted } = await open(t, {
    MAILHORN_DELIVERY_TLS_REPORTS_FROM: 'tls-reports@unverified.example',
  })
  await untilCounted(mailhorn, counted, 2)
  mailhorn.clock.advance(DAY_MS + 5 * 3_600_000)
  const id = await mailhorn.send({ from: 'ann@here.example', to: 'b@silent.test', subject: 'hi', text: 'hi' })
  await mailhorn.emailWhen(id, 'delivered')
  assert.is(counted().length, 2)
  mailhorn.clock.advance(3 * DAY_MS)
  await untilCounted(mailhorn, counted, 0)
})

test('without a sender address nothing is counted and no DNS query is made', async t => {
  const { mailhorn, counted } = await open(t, { MAILHORN_DELIVERY_TLS_REPORTS_FROM: '' })
  mailhorn.clock.advance(61_000)
  const id = await mailhorn.send({ from: 'ann@here.example', to: 'b@there.test', subject: 'hi', text: 'hi' })
  await mailhorn.emailWhen(id, 'delivered')
  assert.equal(counted(), [])
  assert.not.ok(mailhorn.zone.queries.some(({ name }) => name.startsWith('_smtp._tls')))
})

test.run()
