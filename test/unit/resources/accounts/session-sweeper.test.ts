import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { SESSION_IDLE_MS, sweepSessions } from '../../../../src/resources/accounts/sessions.ts'
import { insertRows, planOf } from '../../../kit/database.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accounts/session-sweeper')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  const [accountId, userId] = [newId(clock.now()), newId(clock.now())]
  insertRows(store, 'accounts', [{ id: accountId, name: 'Main', plan: 'scale', created_at: 0 }])
  store.change(
    `insert into users (id, account_id, email, password_hash, operator, created_at)
     values (?, ?, 'a@b.test', '', 1, 0)`,
    userId,
    accountId,
  )
  const rowOf = (id: Id, seenAt: number) => ({
    id,
    user_id: userId,
    token_hash: id,
    kind: 'bearer',
    created_at: seenAt - 1_000,
    last_seen_at: seenAt,
  })
  /** A session that has been used `seenAt`, whenever it was opened. */
  const session = (seenAt: number) => {
    const id = newId(clock.now())
    insertRows(store, 'sessions', [rowOf(id, seenAt)])
  }
  const idle = () =>
    store
      .rows<{ at: number }>('select last_seen_at as at from sessions order by at desc')
      .map(({ at }) => clock.now() - at)
  return { ...store, clock, session, idle }
}

test('session sweeper: only expired sessions are deleted', async t => {
  const store = await open(t)
  for (const idleMs of [0, SESSION_IDLE_MS, SESSION_IDLE_MS + 1]) store.session(store.clock.now() - idleMs)
  for await (const _ of sweepSessions(store));
  assert.equal(store.idle(), [0, SESSION_IDLE_MS])
})

test('session sweeper: steps delete 500 sessions', async t => {
  const store = await open(t)
  for (let i = 0; i < 1_100; i++) store.session(0)
  const left: number[] = []
  for await (const _ of sweepSessions(store)) left.push(store.idle().length)
  assert.equal(left, [600, 100, 0])
})

test('session sweeper: the query uses an index', async t => {
  const plan = planOf(
    await open(t),
    'select id from sessions where last_seen_at < 1 order by last_seen_at limit 5',
  )
  assert.match(plan, /sessions_seen/)
})

test.run()
