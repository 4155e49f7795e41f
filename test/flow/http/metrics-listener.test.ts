import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('the listener for metrics')
const LISTEN = { MAILHORN_METRICS_LISTEN: '127.0.0.1:0' }
const TOKEN = 'metrics-token'

async function start(t: TestContext, env: Record<string, string>) {
  const mailhorn = await t.using(startMailhorn({ env }))
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${mailhorn.app.metricsAddress!.port}${path}`, init)
  return { mailhorn, get }
}

const isReachable = ({ app }: Mailhorn) =>
  fetch(`http://127.0.0.1:${app.metricsAddress!.port}/healthz`).then(
    () => true,
    () => false,
  )

test('on loopback it serves metrics without a token, while the API does not', async t => {
  const { mailhorn, get } = await start(t, LISTEN)
  const reply = await get('/metrics')
  assert.equal(
    [reply.status, reply.headers.get('content-type')],
    [200, 'text/plain; version=0.0.4; charset=utf-8'],
  )
  assert.match(await reply.text(), /^mailhorn_build_info\{version="/m)
  assert.is((await get('/healthz')).status, 200)
  assert.is((await mailhorn.call('GET', '/metrics')).status, 404)
})

test('with a token it asks for it', async t => {
  const { get } = await start(t, { ...LISTEN, MAILHORN_METRICS_TOKEN: TOKEN })
  assert.is((await get('/metrics')).status, 401)
  assert.is((await get('/metrics', { headers: { authorization: 'Bearer wrong' } })).status, 401)
  assert.is((await get('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).status, 200)
})

test('it serves nothing else', async t => {
  const { mailhorn, get } = await start(t, LISTEN)
  const authorization = `Bearer ${await mailhorn.signIn()}`
  for (const path of ['/', '/emails', '/doctor', '/readyz', '/openapi.json', '/metrics/x'])
    assert.is((await get(path, { headers: { authorization } })).status, 404, path)
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'])
    assert.is((await get('/metrics', { method })).status, 405, method)
})

test('it ends with the service', async () => {
  const mailhorn = await startMailhorn({ env: LISTEN })
  assert.is(await isReachable(mailhorn), true)
  await mailhorn.close()
  assert.is(await isReachable(mailhorn), false)
})

test('it is off by default', async t => {
  const { mailhorn } = await start(t, {})
  assert.is(mailhorn.app.metricsAddress, null)
})

test.run()
