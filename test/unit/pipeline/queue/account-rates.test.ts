import * as assert from 'uvu/assert'
import { idKey } from '../../../../src/lib/ids.ts'
import {
  judgeRates,
  type RateTerms,
  watchAccountRates,
} from '../../../../src/pipeline/queue/account-rates.ts'
import { metricKind, periodOf, quarterOf } from '../../../../src/resources/events/metrics.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('queue/account-rates')
const TERMS: RateTerms = { alertBounces: 500, alertComplaints: 10, pauseBounces: 1_000, pauseComplaints: 30 }
const NOTHING = { delivered: 0, bounced: 0, complained: 0 }

const CASES: [what: string, feedback: Partial<typeof NOTHING>, found: string[]][] = [
  ['fewer than 1,000 deliveries', { delivered: 500, bounced: 499, complained: 400 }, []],
  ['an account below all thresholds', { delivered: 9_990, bounced: 10, complained: 1 }, []],
  ['5 % bounce', { delivered: 950, bounced: 50 }, ['account-bounces']],
  ['10 % bounce', { delivered: 900, bounced: 100 }, ['account-bounces!']],
  ['0.1 % complain', { delivered: 1_000, complained: 1 }, ['account-complaints']],
  ['0.3 % complain', { delivered: 1_000, complained: 3 }, ['account-complaints!']],
  [
    '6 % bounce and 0.9 % complain',
    { delivered: 940, bounced: 60, complained: 9 },
    ['account-bounces', 'account-complaints!'],
  ],
]
for (const [what, feedback, found] of CASES)
  test(`account rates: ${what}: ${found.join(' and ') || 'no finding'}`, () => {
    const findings = judgeRates({ ...NOTHING, ...feedback }, TERMS)
    assert.equal(
      findings.map(({ kind, isTooMuch }) => kind + (isTooMuch ? '!' : '')),
      found,
    )
  })

test('account rates: a threshold of null is never exceeded', () => {
  const off = { alertBounces: null, alertComplaints: null, pauseBounces: null, pauseComplaints: null }
  assert.equal(judgeRates({ delivered: 1_000, bounced: 1_000, complained: 1_000 }, off), [])
})

test('account rates: the text contains rate and number of deliveries', () => {
  const [finding] = judgeRates({ delivered: 1_800, bounced: 200, complained: 0 }, TERMS)
  assert.is(finding!.text, '10.00 % of 2000 deliveries in 24 h bounced for good')
})

test('account rates: an account without a bounce or complaint is neither reported nor paused', async t => {
  // given: 1,000 deliveries, of which one complaint would be 0.1 %
  const store = await t.using(openLocalStore())
  const { account, clock } = postOver(store)
  const ids = [account('Of operators'), account('Other')]
  const deliver = (metric: 'delivered' | 'complained', count: number) => {
    for (const id of ids)
      store.change(
        'insert into counters (account_id, kind, period, count) values (?, ?, ?, ?)',
        ...[id, metricKind(metric, null, null), periodOf(quarterOf(clock.now())), count],
      )
  }
  const alerts: string[] = []
  const watch = async () => {
    const terms = { ...TERMS, alertBounces: 1, pauseComplaints: 10 }
    const onAlert = ({ kind }: { kind: string }) => void alerts.push(kind)
    for await (const _ of watchAccountRates({ ...store, clock, newId, terms, onAlert })) void _
  }
  deliver('delivered', 1_000)

  // when, then
  await watch()
  assert.equal([alerts, store.rows('select * from queue_holds')], [[], []])

  // when, then: with one complaint, both are reported, and that of the operators is not paused
  deliver('complained', 1)
  await watch()
  assert.equal(alerts, ['account-complaints', 'account-complaints'])
  const paused = store.rows<{ account_id: Uint8Array }>('select account_id from queue_holds')
  assert.equal(
    paused.map(hold => idKey(hold.account_id)),
    [idKey(ids[1]!)],
  )
})

test.run()
