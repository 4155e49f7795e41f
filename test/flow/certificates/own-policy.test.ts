import { request } from 'node:https'
import * as assert from 'uvu/assert'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { certificateFiles, testAuthority } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'
import { askServer } from '../../kit/zone-client.ts'

/** When it stands in the DNS, and when not, is seen in `test/unit/app/mta-sts.test.ts`. */
const test = suite('the MTA-STS policy of the provider host')

const HOST = 'example.test'
const caFile = new URL('../../kit/certs/ca.pem', import.meta.url).pathname

/** Covered by the test certificate, as `example.test` itself is not. */
const MX = `mx.${HOST}`

/** @param mx name of the MX host, which the certificate covers or not; it always covers the policy host */
async function setUp(t: TestContext, mx = MX) {
  const [port, port25] = [await freePort(), await freePort()]
  const mailhorn = await t.using(
    startMailhorn({
      dns: true,
      env: {
        MAILHORN_MAIL_HOST: HOST,
        MAILHORN_ADMIN_EMAIL: 'admin@mailhorn.test',
        MAILHORN_SMTP_TLS_CERT_FILE: certificateFiles.cert,
        MAILHORN_SMTP_TLS_KEY_FILE: certificateFiles.key,
        MAILHORN_SMTP_INBOUND_MTA_STS: 'enforce',
        MAILHORN_DELIVERY_POLICY_PORT: String(port),
        MAILHORN_DELIVERY_CA_FILE: caFile,
        MAILHORN_SMTP_INBOUND_LISTEN: `127.0.0.1:${port25}`,
        MAILHORN_DELIVERY_PORT: String(port25),
        MAILHORN_DNS_ADDRESSES: '127.0.0.1',
        MAILHORN_DNS_RECORDS: `@ MX 10 ${mx}.; ${mx}. A 127.0.0.1`,
        MAILHORN_HTTP_TLS_LISTEN: `127.0.0.1:${port}`,
      },
    }),
  )
  return { mailhorn, port }
}

async function inZone({ app }: Mailhorn, name: string, type: 'TXT' | 'A'): Promise<string | undefined> {
  const { answers } = await askServer(`127.0.0.1:${app.dnsAddress!.port}`, name, type)
  const [first] = answers
  return first?.type === 'TXT' ? first.text : first?.type === 'A' ? first.address : undefined
}

const published = (mailhorn: Mailhorn) => inZone(mailhorn, `_mta-sts.${HOST}`, 'TXT')

/** Over TLS, whose certificate must be good for the name. */
function fetched(port: number, host: string): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      servername: host,
      ca: testAuthority(),
      headers: { host },
      agent: false,
    }
    const requests = request({ ...options, path: '/.well-known/mta-sts.txt' }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      const { statusCode: status = 0, headers } = response
      response.on('end', () => resolve({ status, type: headers['content-type'] ?? '', text }))
    })
    requests.on('error', reject).end()
  })
}

test('it is served at its own name alone, and then published with its address', async t => {
  const { mailhorn, port } = await setUp(t)
  const text = await until(() => published(mailhorn))
  assert.match(text, /^v=STSv1; id=[0-9a-f]{20}$/)
  assert.is(await inZone(mailhorn, `mta-sts.${HOST}`, 'A'), '127.0.0.1')
  assert.equal(await fetched(port, `mta-sts.${HOST}`), {
    status: 200,
    type: 'text/plain; charset=utf-8',
    text: `version: STSv1\r\nmode: enforce\r\nmx: ${MX}\r\nmax_age: 604800\r\n`,
  })
  assert.is((await fetched(port, 'mx.test')).status, 404)
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('GET', '/dns/records?limit=100', { session })
  const { body: doctor } = await mailhorn.call('GET', '/doctor', { session })
  const found = doctor.findings.find(({ check }: { check: string }) => check === 'mta_sts')
  assert.equal([found.subject, found.status], [HOST, 'ok'])
  assert.match(found.message, /published in the mode enforce/)
  const names = body.data.map(({ name }: { name: string }) => name)
  assert.ok(names.includes(`_mta-sts.${HOST}`) && names.includes(`mta-sts.${HOST}`))
})

test('a policy whose MX host senders cannot verify is published in the mode testing, and operators are told', async t => {
  const deep = `deep.mx.${HOST}`
  const { mailhorn, port } = await setUp(t, deep)
  await until(() => published(mailhorn))
  assert.is(
    (await fetched(port, `mta-sts.${HOST}`)).text,
    `version: STSv1\r\nmode: testing\r\nmx: ${deep}\r\nmax_age: 604800\r\n`,
  )
  const session = await mailhorn.signIn()
  const { body: alerts } = await mailhorn.call('GET', '/alerts', { session })
  const alert = alerts.data.find(({ kind }: { kind: string }) => kind === 'mta-sts')
  assert.equal([alert.kind, alert.mx_host, alert.domain], ['mta-sts', deep, HOST])
  assert.match(alert.reply, /does not match certificate's altnames/)
  const { body: doctor } = await mailhorn.call('GET', '/doctor', { session })
  const found = doctor.findings.find(({ check }: { check: string }) => check === 'mta_sts')
  assert.equal([found.subject, found.status], [deep, 'warning'])
  assert.match(found.message, /altnames.*published in the mode testing/)
})

test.run()
