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

test.run()
