import * as assert from 'uvu/assert'
import {
  ALERT_CHANGED,
  hourOf,
  lastingAlerts,
  listOperatorAlerts,
} from '../../../../src/resources/alerts/operator-alerts.ts'
import type { OperatorAlertRow } from '../../../../src/store/model/schema/alerts.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('alerts/operator-alerts')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FIRST_HOUR_MS = 495_000 * HOUR_MS

async function open(t: TestContext) {
  const { db, run, announced } = await t.using(openLocalStore())
  const raise = (over: Partial<OperatorAlertRow>) =>
    run('raiseAlert', {
      ...{
        hour: FIRST_HOUR_MS,
        kind: 'blocked',
        provider: 'google',
        sourceIp: '',
        raisedAt: FIRST_HOUR_MS,
        mxHost: null,
      },
      ...{ domain: 'there.test', reply: '550 no' },
      ...over,
    })
  const end = (kind: string, except: string[], at = FIRST_HOUR_MS + 1) =>
    run('endAlerts', { kind, except, at })
  const list = async (limit = 10, offset = 0) => {
    const { total, rows } = await listOperatorAlerts(db, { limit, offset })
    return [total, ...rows.map(({ kind, provider, sourceIp }) => [kind, provider, sourceIp].join(' ').trim())]
  }
  const lasting = async (kind: string) => [...(await lastingAlerts(db, kind))].sort()
  return { raise, end, list, lasting, changes: () => announced(ALERT_CHANGED).length }
}

test('alerts: an hour begins at its first millisecond', () => {
  assert.equal(
    [FIRST_HOUR_MS - 1, FIRST_HOUR_MS, FIRST_HOUR_MS + HOUR_MS - 1, FIRST_HOUR_MS + HOUR_MS].map(hourOf),
    [FIRST_HOUR_MS - HOUR_MS, FIRST_HOUR_MS, FIRST_HOUR_MS, FIRST_HOUR_MS + HOUR_MS],
  )
})

test('alerts: one of each kind, provider and address is kept in an hour', async t => {
  const { raise, list } = await open(t)
  assert.is(await raise({}), true)
  assert.is(await raise({ reply: '550 again' }), false)
  for (const other of [
    { kind: 'throttled' },
    { provider: 'yahoo' },
    { sourceIp: '192.0.2.1' },
    { hour: FIRST_HOUR_MS + HOUR_MS },
  ])
    assert.is(await raise(other), true, JSON.stringify(other))
  assert.is((await list())[0], 5)
})

test('alerts: each start and end is announced once', async t => {
  const { raise, end, changes } = await open(t)
  await raise({})
  assert.is(changes(), 1)
  await raise({})
  assert.is(changes(), 1)
  await end('blocked', [])
  assert.is(changes(), 2)
  await end('blocked', [])
  assert.is(changes(), 2)
  await raise({})
  assert.is(changes(), 3)
})

test('alerts: one that has ended lasts again when it is raised in its hour', async t => {
  const { raise, end, lasting } = await open(t)
  await raise({})
  assert.equal(await lasting('blocked'), ['google'])
  assert.equal(await end('blocked', []), ['google'])
  assert.equal(await lasting('blocked'), [])
  assert.is(await raise({}), true)
  assert.equal(await lasting('blocked'), ['google'])
  assert.is(await raise({}), false)
})

test('alerts: those of a kind end, but for the excepted, and each once', async t => {
  const { raise, end, lasting } = await open(t)
  await raise({ provider: 'google' })
  await raise({ provider: 'google', sourceIp: '192.0.2.1' })
  await raise({ provider: 'yahoo' })
  await raise({ provider: 'google', kind: 'throttled' })
  assert.equal(await end('blocked', ['yahoo']), ['google'])
  assert.equal([await lasting('blocked'), await lasting('throttled')], [['yahoo'], ['google']])
  assert.equal(await end('blocked', ['yahoo']), [])
  assert.equal(await end('blocked', []), ['yahoo'])
})

test('alerts: pages, newest first, then by kind, provider and address', async t => {
  const { raise, list } = await open(t)
  const rows = [
    { hour: FIRST_HOUR_MS, raisedAt: FIRST_HOUR_MS + 5, kind: 'a' },
    { hour: FIRST_HOUR_MS + HOUR_MS, raisedAt: FIRST_HOUR_MS + HOUR_MS + 1, kind: 'z' },
    {
      hour: FIRST_HOUR_MS + HOUR_MS,
      raisedAt: FIRST_HOUR_MS + HOUR_MS + 2,
      kind: 'b',
      provider: 'y',
      sourceIp: '192.0.2.2',
    },
    {
      hour: FIRST_HOUR_MS + HOUR_MS,
      raisedAt: FIRST_HOUR_MS + HOUR_MS + 2,
      kind: 'b',
      provider: 'y',
      sourceIp: '192.0.2.1',
    },
    {
      hour: FIRST_HOUR_MS + HOUR_MS,
      raisedAt: FIRST_HOUR_MS + HOUR_MS + 2,
      kind: 'b',
      provider: 'x',
      sourceIp: '192.0.2.3',
    },
    { hour: FIRST_HOUR_MS + HOUR_MS, raisedAt: FIRST_HOUR_MS + HOUR_MS + 2, kind: 'a', provider: 'z' },
  ]
  for (const row of rows) await raise(row)
  const all = ['a z', 'b x 192.0.2.3', 'b y 192.0.2.1', 'b y 192.0.2.2', 'z google', 'a google']
  assert.equal(await list(), [6, ...all])
  assert.equal(await list(2, 3), [6, ...all.slice(3, 5)])
})

test('alerts: they are kept for 90 days', async t => {
  const { raise, list } = await open(t)
  await raise({ kind: 'old' })
  await raise({ kind: 'kept', hour: FIRST_HOUR_MS + HOUR_MS })
  await raise({ kind: 'new', hour: FIRST_HOUR_MS + HOUR_MS + 90 * DAY_MS })
  assert.equal(await list(), [2, 'new google', 'kept google'])
})

test.run()
