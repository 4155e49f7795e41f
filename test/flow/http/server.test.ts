import * as assert from 'uvu/assert'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const HOST = 'mailhorn.test'
const test = suite('operator routes about the server')

test('settings: operators see what this process runs with, without secrets', async t => {
  const mailhorn = await startMailhorn({ env: { MAILHORN_METRICS_TOKEN: 'hush' } })
  t.after(() => mailhorn.close())
  const session = await mailhorn.signIn()
  const { status, body } = await mailhorn.call('GET', '/installation/settings', { session })
  assert.is(status, 200)
  const of = (key: string) => body.data.find((setting: { key: string }) => setting.key === key)
  assert.is(of('data_dir').value, mailhorn.dataDir)
  assert.equal(of('metrics.token'), {
    ...of('metrics.token'),
    ...{ value: '[redacted]', source: 'environment', source_name: 'MAILHORN_METRICS_TOKEN', secret: true },
  })
  assert.is((await mailhorn.call('GET', '/installation/settings', { key: mailhorn.apiKey })).status, 401)
})

test('certificates: without an authority, the self-signed one is listed and cannot be ordered', async t => {
  const mailhorn = await startMailhorn()
  t.after(() => mailhorn.close())
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('GET', '/installation/certificates', { session })
  const [{ host, source, names, order }] = body.data
  assert.equal([body.data.length, host, source, names[0], order], [1, HOST, 'self_signed', HOST, null])
  const { body: refused } = await mailhorn.call('POST', '/installation/certificates/order', {
    ...{ session, body: { host } },
  })
  assert.is(refused.ordered, false)
  assert.match(refused.reason, /acme\.enabled/)
})

test('storage: sizes at once, and growth after a day', async t => {
  const mailhorn = await startMailhorn()
  t.after(() => mailhorn.close())
  const view = async () => {
    const { body: signedIn } = await mailhorn.call('POST', '/auth/login', { body: mailhorn.admin })
    return (await mailhorn.call('GET', '/installation/storage', { session: signedIn.token })).body
  }
  const first = await view()
  assert.equal([first.data_dir, first.growth], [mailhorn.dataDir, null])
  assert.ok(first.disk.free_bytes > 0 && first.disk.free_bytes <= first.disk.size_bytes)
  assert.ok(first.database.bytes > 100_000)
  assert.is(first.database.wal_bytes === null, first.database.engine === 'postgres')
  mailhorn.clock.advance(25 * 3_600_000)
  const { growth } = await view()
  assert.ok(Date.parse(growth.since) < mailhorn.clock.now() - 24 * 3_600_000)
  assert.type(growth.database_bytes_per_day, 'number')
})

test.run()
