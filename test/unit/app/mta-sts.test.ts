import { hash } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { AppContext } from '../../../src/app/context.ts'
import { startMtaSts } from '../../../src/app/mta-sts.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { heldCertificate } from '../../../src/lib/certificates.ts'
import { createLog } from '../../../src/lib/log.ts'
import { MTA_STS_MODE, publishedPolicy, readSetting } from '../../../src/store/reading/settings.ts'
import { type FakeMxOptions, startFakeMx } from '../../kit/fake-mx.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { type CertificateName, testCertificate } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'
import { startWebHost } from '../../kit/web-host.ts'

/**
 * The MTA-STS policy of the provider host is published while, and only while, the world gets it as it should.
 */
const test = suite('own-policy')

const root = new URL('../../..', import.meta.url).pathname
const caFile = new URL('../../kit/certs/ca.pem', import.meta.url).pathname
const HOST = 'example.test'
const HOUR_MS = 3_600_000
/** After a look that did not reach port 25. */
const RECHECK_MS = 5 * 60_000
/** Covered by the test certificates, as `example.test` itself is not. */
const MX = `mx.${HOST}`
const POLICY = `version: STSv1\r\nmode: testing\r\nmx: ${MX}\r\nmax_age: 604800\r\n`

interface Given {
  certificate?: CertificateName
  mode?: string
  /** TLS of port 25. */
  mx?: FakeMxOptions['tls']
}

async function setUp(
  t: TestContext,
  { certificate = 'good', mode = 'testing', mx: tls = 'good' }: Given = {},
) {
  const mx = await t.using(startFakeMx({ host: '127.0.0.1', tls }))
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
    MAILHORN_DNS_RECORDS: `@ MX 10 ${MX}.; ${MX}. A 127.0.0.1`,
    MAILHORN_DELIVERY_PORT: String(mx.port),
    MAILHORN_DELIVERY_POLICY_PORT: String(host.port),
    MAILHORN_DELIVERY_CA_FILE: caFile,
  })
  const certificates = heldCertificate(testCertificate('good'))
  const log = createLog('silent')
  let looks = 0
  const counting = {
    ...clock,
    timer(ms: number, fn: () => void) {
      if (ms === HOUR_MS) looks++
      return clock.timer(ms, fn)
    },
  }
  const stack = await t.using(new AsyncDisposableStack())
  const parts = { config, clock: counting, log, store, stack, security: { certificates } }
  startMtaSts(parts as unknown as AppContext)
  const noted = () => store.rows<{ value: string }>("select value from settings where key = 'mta_sts_id'")[0]
  await until(() => noted() && looks > 0)
  const alerts = () =>
    store.rows<{ reply: string }>("select reply from operator_alerts where kind = 'mta-sts'")
  const renewed = () => certificates.use(testCertificate('expired'))
  /** Number of looks that have ended, since each is followed by a pause of an hour. */
  const lookCount = () => looks
  return {
    store,
    clock,
    reply,
    host,
    mx,
    alerts,
    renewed,
    lookCount,
    published: () => publishedPolicy(store.db),
  }
}

test('MTA-STS: a policy that is served correctly is published', async t => {
  const { host, published } = await setUp(t)
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
    const { clock, reply, published } = await setUp(t)
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
    const { published } = await setUp(t, { certificate })
    assert.is(await published(), undefined)
  })

test('MTA-STS: no request is made when it is off', async t => {
  const { host, published } = await setUp(t, { mode: 'off' })
  assert.is(await published(), undefined)
  assert.is(host.connectionCount, 0)
})

const ENFORCED = POLICY.replace('testing', 'enforce')
const idOf = (text: string) => hash('sha256', text, 'hex').slice(0, 20)

/** Configures `enforce`. The web host serves the policy that the service would serve in the current mode. */
async function enforcing(t: TestContext, mx: FakeMxOptions['tls']) {
  const parts = await setUp(t, { mode: 'enforce', mx })
  const mode = () => readSetting(parts.store.db, MTA_STS_MODE)
  return { ...parts, mode }
}

/** Resolves when the look that `start` causes has ended. */
async function anotherLook({ lookCount }: { lookCount(): number }, start: () => void) {
  const before = lookCount()
  start()
  await until(() => lookCount() > before)
}

test('MTA-STS: while senders can verify port 25, the policy is enforced', async t => {
  const { reply, clock, mode, published, alerts } = await enforcing(t, 'good')
  assert.is(await mode(), 'enforce')
  reply.text = ENFORCED
  clock.advance(HOUR_MS)
  assert.is(await until(published), idOf(ENFORCED))
  assert.equal(alerts(), [])
})

for (const [tls, reason] of [
  ['self-signed', /does not pass verification: self-signed certificate/],
  ['expired', /expired/],
  ['wrong-name', /altnames/],
  ['off', /does not offer STARTTLS/],
] as const)
  test(`MTA-STS: with port 25 ${tls}, the policy has the mode testing, with an alert`, async t => {
    const { mode, published, alerts } = await enforcing(t, tls)
    assert.is(await mode(), 'testing')
    assert.is(await published(), idOf(POLICY))
    assert.is(alerts().length, 1)
    assert.match(alerts()[0]!.reply, reason)
  })

test('MTA-STS: an enforced policy whose port 25 vanishes is replaced within the hour, and comes back', async t => {
  const { reply, clock, mx, lookCount, mode, published, alerts } = await enforcing(t, 'good')
  reply.text = ENFORCED
  clock.advance(HOUR_MS)
  await until(published)
  const { port } = mx
  await mx.close()
  await anotherLook({ lookCount }, () => clock.advance(HOUR_MS))
  assert.equal(
    [await mode(), await published(), alerts()],
    ['enforce', idOf(ENFORCED), []],
    'it may be chance',
  )
  reply.text = POLICY
  clock.advance(RECHECK_MS)
  await until(async () => (await published()) === idOf(POLICY))
  assert.match(alerts()[0]!.reply, /cannot be reached from this host.*own public address/)
  await t.using(startFakeMx({ host: '127.0.0.1', port, tls: 'good' }))
  reply.text = ENFORCED
  clock.advance(HOUR_MS)
  await until(async () => (await published()) === idOf(ENFORCED))
  assert.is(await mode(), 'enforce')
})

test('MTA-STS: port 25 is looked at again as soon as the certificate changes', async t => {
  const { mx, renewed } = await enforcing(t, 'good')
  const { sessionCount } = mx
  renewed()
  await until(() => mx.sessionCount > sessionCount)
})

test('MTA-STS: without a policy host, a bad certificate at port 25 raises no alert', async t => {
  const { published, alerts } = await setUp(t, { mode: 'enforce', mx: 'self-signed', certificate: 'expired' })
  assert.is(await published(), undefined)
  assert.equal(alerts(), [])
})

test('MTA-STS: an enforced policy that can no longer be fetched still raises the alert', async t => {
  const { reply, clock, mx, lookCount, published, alerts } = await enforcing(t, 'good')
  reply.text = ENFORCED
  clock.advance(HOUR_MS)
  await until(published)
  await mx.close()
  await anotherLook({ lookCount }, () => clock.advance(HOUR_MS))
  reply.status = 503
  clock.advance(RECHECK_MS)
  await until(async () => (await published()) === undefined && alerts().length === 1)
})

test.run()
