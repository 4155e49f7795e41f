import * as assert from 'uvu/assert'
import { createLog } from '../../../src/lib/log.ts'
import { sharedLogTail } from '../../../src/lib/log-tail.ts'
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

test('log: operators filter the last lines by level, event and text; secrets are redacted', async t => {
  const mailhorn = await startMailhorn()
  t.after(() => mailhorn.close())
  const session = await mailhorn.signIn()
  const event = `test_event_${process.pid}`
  const other = `other_${event}`
  const log = createLog('info', { write: line => sharedLogTail().append(line) })
  log.info({ event, domain: 'one.example', password: 'hush' }, 'A domain was seen')
  log.warn({ event, domain: 'two.example', thread: 'delivery-0' }, 'A domain was lost')
  log.error({ event: other, err: new Error('it broke') }, 'A disk has failed')
  sharedLogTail().append(`{"level":"info","event":"${event}"\n`)
  const listed = async (query: string) =>
    (await mailhorn.call('GET', `/installation/log?${query}`, { session })).body
  const messages = async (query: string) =>
    (await listed(query)).data.map(({ message }: { message: string }) => message)
  assert.equal(await messages(`event=${event}`), ['A domain was lost', 'A domain was seen'])
  assert.equal(await messages(`event=${event}&level=warn`), ['A domain was lost'])
  assert.equal(await messages(`q=${event.toUpperCase()}&level=error`), ['A disk has failed'])
  assert.equal(await messages(`event=${event}&q=one.example`), ['A domain was seen'])
  const { data, has_more, events, since } = await listed(`event=${event}&limit=1`)
  assert.equal([has_more, events.includes(other)], [true, true])
  assert.ok(Date.parse(since) <= Date.parse(data[0].time))
  assert.equal(
    [data[0].level, data[0].thread, data[0].fields],
    ['warn', 'delivery-0', { domain: 'two.example' }],
  )
  assert.is((await listed(`event=${event}&level=info`)).data[1].fields.password, '[redacted]')
  const refused = await mailhorn.call('GET', '/installation/log?level=loud', { session })
  assert.equal([refused.status, refused.body.errors[0].path], [422, 'level'])
})

test('releases: the version that runs, and what has changed', async t => {
  const mailhorn = await startMailhorn()
  t.after(() => mailhorn.close())
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('GET', '/installation/releases', { session })
  const { body: installation } = await mailhorn.call('GET', '/installation', { session })
  assert.is(body.version, installation.version)
  assert.ok(body.data.some(({ sections }: { sections: unknown[] }) => sections.length > 0))
})

test.run()
