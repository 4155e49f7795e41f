import * as assert from 'uvu/assert'
import type { AppContext } from '../../../src/app/context.ts'
import { startMtaSts } from '../../../src/app/mta-sts.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/lib/log.ts'
import { publishedPolicy } from '../../../src/store/settings.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import type { CertificateName } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'
import { startWebHost } from '../../kit/web-host.ts'

/** The MTA-STS policy of the provider host is published while, and only while, the world gets it as it should. */
const test = suite('own-policy')

const root = new URL('../../..', import.meta.url).pathname
const caFile = new URL('../../kit/certs/ca.pem', import.meta.url).pathname
const HOST = 'example.test'
const HOUR_MS = 3_600_000
const POLICY = `version: STSv1\r\nmode: testing\r\nmx: ${HOST}\r\nmax_age: 604800\r\n`

interface Given {
  certificate?: CertificateName
  mode?: string
}

async function given(t: TestContext, { certificate = 'good', mode = 'testing' }: Given = {}) {
  const reply = { status: 200, text: POLICY }
  const host = await t.using(
    startWebHost({
      certificate,
      answer(_, response) {
        response.statusCode = reply.status
        response.end(reply.text)
      },
    }),
  )
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  const { config } = loadConfig(root, {
    MAILHORN_MAIL_HOST: HOST,
    MAILHORN_SMTP_INBOUND_MTA_STS: mode,
    MAILHORN_DNS_ADDRESSES: '127.0.0.1',
    MAILHORN_DELIVERY_POLICY_PORT: String(host.port),
    MAILHORN_DELIVERY_CA_FILE: caFile,
  })
  const stop = startMtaSts({ config, clock, log: createLog('silent'), store } as unknown as AppContext)
  t.after(stop)
  const noted = () => store.rows<{ value: string }>("select value from settings where key = 'mta_sts_id'")[0]
  await until(noted)
  return { store, clock, reply, host, published: () => publishedPolicy(store.db) }
}

test('MTA-STS: a policy that is served correctly is published', async t => {
  const { host, published } = await given(t)
  assert.match((await published())!, /^[0-9a-f]{20}$/)
  assert.equal(
    host.requests.map(({ path, headers, serverName }) => [path, headers.host, serverName]),
    [['/.well-known/mta-sts.txt', `mta-sts.${HOST}:${host.port}`, `mta-sts.${HOST}`]],
  )
})

for (const [what, change] of [
  ['another policy', { text: POLICY.replace('testing', 'enforce') }],
  ['an error', { status: 503 }],
] as const)
  test(`MTA-STS: while ${what} is served the policy is withdrawn, and published again afterwards`, async t => {
    const { clock, reply, published } = await given(t)
    const id = await published()
    const right = { ...reply }
    Object.assign(reply, change)
    clock.advance(HOUR_MS)
    await until(async () => (await published()) === undefined)
    Object.assign(reply, right)
    clock.advance(HOUR_MS)
    assert.is(await until(published), id)
  })

for (const certificate of ['expired', 'wrong-name', 'self-signed'] as const)
  test(`MTA-STS: with a certificate that is ${certificate} the policy is not published`, async t => {
    const { published } = await given(t, { certificate })
    assert.is(await published(), undefined)
  })

test('MTA-STS: no request is made when it is off', async t => {
  const { host, published } = await given(t, { mode: 'off' })
  assert.is(await published(), undefined)
  assert.is(host.connectionCount, 0)
})

test.run()
