import * as assert from 'uvu/assert'
import { listTlsDays, listTlsResults, sweepStsPolicies } from '../../../src/pipeline/queue/tls-rows.ts'
import type { TlsResultRow } from '../../../src/store/model/schema/tls.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/tls')

const result = (over: Partial<TlsResultRow> = {}): TlsResultRow => ({
  day: '2026-11-20',
  domain: 'there.test',
  policyType: 'sts',
  result: '',
  mxHost: 'mx1.there.test',
  policy: '{}',
  reason: null,
  mxIp: null,
  count: 2,
  ...over,
})

test('TLS results: equal results are summed over all threads', async t => {
  const { run, db } = await t.using(openLocalStore())
  await run('addTlsResults', [result(), result({ result: 'certificate-expired', count: 1 })])
  await run('addTlsResults', [result({ count: 3 }), result({ mxHost: 'mx2.there.test' })])
  const rows = await listTlsResults(db, '2026-11-20', 'there.test')
  assert.equal(
    rows.map(row => [row.result, row.mxHost, row.count]),
    [
      ['', 'mx1.there.test', 5],
      ['', 'mx2.there.test', 2],
      ['certificate-expired', 'mx1.there.test', 1],
    ],
  )
})

test('TLS results: completed days are reported, the oldest first', async t => {
  const { run, db } = await t.using(openLocalStore())
  const rows = ['2026-11-21', '2026-11-20', '2026-11-19'].map(day => result({ day }))
  await run('addTlsResults', [...rows, result({ mxHost: 'mx2.there.test' })])
  const days = async () => (await listTlsDays(db, '2026-11-21')).map(({ day }) => day)
  assert.equal(await days(), ['2026-11-19', '2026-11-20'])
  await run('dropTlsResults', { day: '2026-11-19', domain: 'there.test' })
  await run('dropTlsResults', { day: '2026-11-20', domain: 'other.test' })
  assert.equal(await days(), ['2026-11-20'])
})

test('MTA-STS policies: policies are replaced, and deleted when they expire', async t => {
  const { run, rows } = await t.using(openLocalStore())
  const clock = createManualClock()
  const policy = { domain: 'there.test', mode: 'enforce' as const, mx: '["mx.test"]', maxAgeSeconds: 60 }
  const times = { fetchedAt: clock.now(), expiresAt: clock.now() + 60_000 }
  for (const policyId of ['1', '2']) await run('putStsPolicy', { ...policy, ...times, policyId })
  const ids = () =>
    rows<{ policy_id: string }>('select policy_id from mta_sts_policies').map(row => row.policy_id)
  const sweep = async () => {
    for await (const _ of sweepStsPolicies({ run, clock }));
  }
  await sweep()
  assert.equal(ids(), ['2'])
  clock.advance(60_000)
  await sweep()
  assert.equal(ids(), [])
})

test.run()
