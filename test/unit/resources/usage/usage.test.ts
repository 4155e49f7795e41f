import * as assert from 'uvu/assert'
import { metricKind, periodOf, quarterOf } from '../../../../src/resources/events/metrics.ts'
import { countHoldings } from '../../../../src/resources/usage/usage.ts'
import { openAudience } from '../../../kit/audience.ts'
import { insertRows } from '../../../kit/database.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('usage')
const NOW = Date.UTC(2026, 10, 21, 13)
const NOTHING = {
  ...{ contactCount: 0, audienceCount: 0, broadcastCount: 0, domainCount: 0 },
  ...{ receivedToday: 0, receivedThisMonth: 0 },
}

test('holdings: what one account has counts for no other', async t => {
  const store = await openAudience(t)
  const { accountId, account, db, add, newAudience } = store
  const other = account('Other')
  assert.equal(await countHoldings(db, other, NOW), NOTHING)
  const second = await newAudience()
  await add({ email: 'ann@there.test' })
  await add({ email: 'ann@there.test' }, second)
  await add({ email: 'bob@there.test' }, second)
  const { domain } = postOver(store)
  for (const name of ['one.test', 'two.test']) domain(accountId, name)
  insertRows(store, 'counters', [
    {
      account_id: accountId,
      kind: metricKind('received', null, null),
      period: periodOf(quarterOf(NOW)),
      count: 4,
    },
    {
      account_id: accountId,
      kind: metricKind('sent', null, null),
      period: periodOf(quarterOf(NOW)),
      count: 50,
    },
  ])
  assert.equal(await countHoldings(db, accountId, NOW), {
    ...{ contactCount: 3, audienceCount: 2, broadcastCount: 0, domainCount: 2 },
    ...{ receivedToday: 4, receivedThisMonth: 4 },
  })
  assert.equal(await countHoldings(db, other, NOW), NOTHING)
})

test('holdings: received mail counts from the first quarter of the UTC day and of the month', async t => {
  const store = await openAudience(t)
  const received = (at: number, count: number) =>
    insertRows(store, 'counters', [
      {
        account_id: store.accountId,
        kind: metricKind('received', null, null),
        period: periodOf(quarterOf(at)),
        count,
      },
    ])
  received(Date.UTC(2026, 10, 1) - 1, 1)
  received(Date.UTC(2026, 10, 1), 10)
  received(Date.UTC(2026, 10, 21) - 1, 100)
  received(Date.UTC(2026, 10, 21), 1_000)
  const { receivedToday, receivedThisMonth } = await countHoldings(store.db, store.accountId, NOW)
  assert.equal([receivedToday, receivedThisMonth], [1_000, 1_110])
  const ofNobody = await countHoldings(store.db, newId(NOW), NOW)
  assert.equal(ofNobody, NOTHING)
})

test.run()
