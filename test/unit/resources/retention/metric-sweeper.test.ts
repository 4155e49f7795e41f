import * as assert from 'uvu/assert'
import { sweepMetrics } from '../../../../src/resources/retention/metric-sweeper.ts'
import { finishFor, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('retention/metric-sweeper')
const DAY_MS = 86_400_000

for (const [what, retentionDays, left] of [
  ['go when they are older than their plan keeps emails', 7, 1],
  ['stay where the plan keeps emails for ever', null, 2],
] as const)
  test(`metric sweeper: counters of metrics ${what}`, async t => {
    const store = await t.using(openLocalStore())
    const post = postOver(store)
    const accountId = post.account()
    post.domain(accountId, 'here.test')
    const deliver = async () => {
      await post.send(accountId)
      for (const delivery of await post.claim(accountId))
        await store.run('finish', finishFor(delivery, post.clock.now()))
    }
    await deliver()
    post.clock.advance(8 * DAY_MS)
    await deliver()
    const others = () =>
      store.rows("select * from counters where kind not like 'metrics.%' order by kind, period")
    const before = others()
    const plans = { named: () => ({ retentionDays, daily: null, monthly: null }) }
    for await (const _ of sweepMetrics({ db: store.db, run: store.run, plans, clock: post.clock }))
      await Promise.resolve()
    const count = (kind: string) => store.rows('select count from counters where kind = ?', kind).length
    assert.equal([count('metrics.sent'), count('metrics.delivered')], [left, left])
    assert.equal(store.rows("select 1 from counters where kind like 'metrics.% domain %'").length, 2 * left)
    assert.equal(others(), before)
  })

test.run()
