import * as assert from 'uvu/assert'
import { listRouteLog } from '../../../../src/resources/emails/inbound-route-log.ts'
import { sweepRouteLogs } from '../../../../src/resources/retention/sweepers.ts'
import { insertRows, planOf } from '../../../kit/database.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('emails/inbound-route-log')
const DAY_MS = 86_400_000
const PAGE = { limit: 10, offset: 0, cursor: null }

/** A store with a route that has logged one message a day for ten days. */
async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const { account, clock } = postOver(store)
  const accountId = account('plain')
  const [routeId, otherId] = [newId(1), newId(1)]
  for (let day = 0; day < 10; day++) {
    const at = clock.now()
    for (const route of [routeId, otherId])
      insertRows(store, 'inbound_route_log', [
        {
          ...{ account_id: accountId, id: newId(at), route_id: route, created_at: at },
          ...{ sender: 'ann@there.test', recipient: 'bob@here.test', subject: `day ${day}` },
          outcome: 'dropped',
        },
      ])
    clock.advance(DAY_MS)
  }
  const list = async (horizon: number) => {
    const { total, rows } = await listRouteLog(store, { accountId, routeId, horizon }, PAGE)
    return { total, subjects: rows.map(({ subject }) => subject) }
  }
  return { ...store, clock, list }
}

test('entries within the retention are listed by route, newest first, and others are deleted', async t => {
  // given
  const { db, run, rows, clock, list } = await open(t)
  const retentionDays = 3.5

  // when, then: before older entries are deleted, they are not listed
  assert.equal(await list(clock.now() - retentionDays * DAY_MS), {
    total: 3,
    subjects: ['day 9', 'day 8', 'day 7'],
  })

  // when, then: they are deleted, whichever route they are of
  const plans = { named: () => ({ retentionDays, daily: null, monthly: null }) }
  for await (const _ of sweepRouteLogs({ db, run, plans, clock })) void _
  assert.is(rows('select 1 from inbound_route_log').length, 6)
  assert.is((await list(0)).total, 3)
})

test('a page of the log is read by its index', async t => {
  const { rows } = await open(t)
  const plan = planOf(
    { rows },
    'select id from inbound_route_log where account_id = ? and route_id = ? order by id desc limit 20',
    ...[newId(1), newId(1)],
  )
  assert.match(plan, 'inbound_route_log_route')
})

test.run()
