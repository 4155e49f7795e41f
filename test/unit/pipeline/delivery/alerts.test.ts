import * as assert from 'uvu/assert'
import { createAlerts } from '../../../../src/pipeline/delivery/outcome/alerts.ts'
import type { AttemptResult } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import { listOperatorAlerts } from '../../../../src/resources/alerts/operator-alerts.ts'
import type { OperatorAlertRow } from '../../../../src/store/model/schema/alerts.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('delivery alerts')
const HOUR_MS = 3_600_000
const AT = 500_000 * HOUR_MS + 1_000
const PAGE = { limit: 100, offset: 0 }

function endingAt(host: string, alert?: AttemptResult['alert']): AttemptResult {
  return {
    kind: 'bounced',
    class: 'blocked',
    phase: 'rcpt',
    reply: null,
    text: '550 5.7.1 listed',
    hostAttempts: [],
    by: { host, source: '192.0.2.1' } as AttemptResult['hostAttempts'][number],
    ...(alert && { alert }),
  }
}

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const told: OperatorAlertRow[] = []
  const thread = () => createAlerts(store.run, alert => told.push(alert))
  const alerts = thread()
  const note = (host: string, at = AT, alert: AttemptResult['alert'] = 'ip-reputation') =>
    alerts.raise({ domain: 'there.test' }, endingAt(host, alert), at)
  const list = () => listOperatorAlerts(store.db, PAGE)
  return { told, thread, alerts, note, list }
}

test('an alert is stored and reported with the reply that raised it', async t => {
  const { note, list, told } = await open(t)
  await note('mx.there.test')
  const row = {
    hour: 500_000 * HOUR_MS,
    kind: 'ip-reputation',
    provider: 'other',
    sourceIp: '192.0.2.1',
    raisedAt: AT,
    mxHost: 'mx.there.test',
    domain: 'there.test',
    reply: '550 5.7.1 listed',
  }
  assert.equal(await list(), { total: 1, rows: [{ ...row, endedAt: null }] })
  assert.equal(told, [row])
})

test('an alert is raised once an hour for each kind and provider, across threads', async t => {
  const { note, list, told, thread } = await open(t)
  await note('mx1.there.test')
  await note('mx2.elsewhere.test')
  await note('aspmx.l.google.com')
  await note('alt1.aspmx.l.google.com', AT + 1_000)
  await note('aspmx.l.google.com', AT, 'authentication')
  await thread().raise({ domain: 'there.test' }, endingAt('aspmx.l.google.com', 'ip-reputation'), AT + 2_000)
  const seen = (await list()).rows.map(({ kind, provider }) => `${kind} ${provider}`).sort()
  assert.equal(seen, ['authentication google', 'ip-reputation google', 'ip-reputation other'])
  assert.is(told.length, 3)
  await note('aspmx.l.google.com', AT + HOUR_MS)
  assert.is((await list()).total, 4)
  assert.is((await list()).rows[0]!.raisedAt, AT + HOUR_MS)
})

test('a result without an alert raises none', async t => {
  const { alerts, list } = await open(t)
  await alerts.raise({ domain: 'there.test' }, endingAt('mx.there.test'), AT)
  assert.is((await list()).total, 0)
})

test('alerts older than 90 days are deleted when a new one is raised', async t => {
  const { note, list } = await open(t)
  await note('mx.there.test')
  await note('mx.there.test', AT + 90 * 24 * HOUR_MS)
  assert.is((await list()).total, 2)
  await note('mx.there.test', AT + 91 * 24 * HOUR_MS)
  assert.is((await list()).total, 2)
})

test('an alert that could not be stored is raised by the next reply', async () => {
  let fails = true
  const told: OperatorAlertRow[] = []
  const alerts = createAlerts(
    async () => {
      if (fails) throw new Error('not stored')
      return true as never
    },
    alert => told.push(alert),
  )
  const note = () => alerts.raise({ domain: 'there.test' }, endingAt('mx.there.test', 'ip-reputation'), AT)
  const failure = await note().catch(error => error)
  assert.is(failure.message, 'not stored')
  fails = false
  await note()
  assert.is(told.length, 1)
})

test.run()
