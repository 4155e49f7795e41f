import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import { type QueueQuestion, viewQueue } from '../../../../src/pipeline/queue/view.ts'
import { planOf } from '../../../kit/database.ts'
import { endings, finishFor, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/view')
const MINUTE_MS = 60_000
const ALL = { by: 'domain', domain: null, accountId: null, class: null, limit: 20, offset: 0 } as const

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const admin = createQueueAdmin({ db: store.db, run: store.run, clock: post.clock, newId })
  /** The view a while after the last mail came. */
  const view = (question: Partial<QueueQuestion> = {}, afterMs = 0) =>
    viewQueue(store.db, { ...ALL, now: post.clock.now() + afterMs, ...question })
  const goesTo = (domain: string, destination: string) =>
    store.change(
      'insert into domain_destinations (domain, destination, seen_at) values (?, ?, 0)',
      domain,
      destination,
    )
  return {
    ...store,
    ...post,
    accountId,
    admin,
    view,
    goesTo,
    sendBy: post.send,
    send: (...to: string[]) => post.send(accountId, { to }),
    parts: async (question: Partial<QueueQuestion> = {}) =>
      (await view(question)).entries.map(({ name, neverTried, deferred, underWay, held }) => [
        name,
        ...[neverTried, deferred, underWay, held],
      ]),
  }
}

test('queue view: deliveries are counted by domain, the most first, and by state', async t => {
  const { send, claim, run, clock, accountId, parts, admin, view } = await open(t)
  await send('a@there.test', 'b@there.test', 'c@there.test', 'd@far.test')
  const [first] = await claim(accountId, 'there.test', { limit: 2 })
  const at = clock.now()
  const over = endings.deferred(at)
  await run(
    'finish',
    finishFor(first!, at, { ...over, record: { ...finishFor(first!, at).record, reply: '451 later' } }),
  )
  assert.equal(await parts(), [
    ['there.test', 1, 1, 1, 0],
    ['far.test', 1, 0, 0, 0],
  ])
  const { entries } = await view()
  assert.equal(
    [entries[0]!.lastReply, entries[0]!.nextAt, entries[1]!.lastReply],
    ['mx.there.test: 451 later', at, null],
  )
  await admin.hold({ domain: 'there.test', accountId: null, broadcastId: null, emailId: null }, null)
  assert.equal(await parts(), [
    ['there.test', 0, 0, 1, 2],
    ['far.test', 1, 0, 0, 0],
  ])
  assert.equal((await view()).totals.held, 2)
})

test('queue view: mail to a paused destination is next tried when the pause ends, and says why it waits', async t => {
  const { send, claim, run, clock, accountId, view, goesTo } = await open(t)
  await send('a@there.test', 'b@there.test', 'c@far.test')
  goesTo('there.test', 'mx.there.test')
  const [first] = await claim(accountId, 'there.test', { limit: 1 })
  const now = clock.now()
  await run('finish', finishFor(first!, now, endings.deferred(now, 1_000)))
  const pausedUntil = now + MINUTE_MS
  const state = { destination: 'mx.there.test', source: '', pauseMs: MINUTE_MS, reason: 'no answer' }
  await run('putDestinationState', { ...state, pausedUntil, changedAt: now })
  const nextOf = async (question: Partial<QueueQuestion>, afterMs = 0) =>
    (await view(question, afterMs)).entries.map(({ name, nextAt }) => [name, nextAt])
  const far = (await view({ domain: 'far.test' })).entries[0]!.nextAt
  assert.equal(await nextOf({}), [
    ['there.test', pausedUntil],
    ['far.test', far],
  ])
  assert.equal(await nextOf({ by: 'destination' }), [
    ['mx.there.test', pausedUntil],
    [null, far],
  ])
  const { explanation } = (await view({}, MINUTE_MS - 1)).entries[0]!
  assert.equal(
    [explanation!.code, explanation!.next_attempt_at],
    ['destination_paused', new Date(pausedUntil).toISOString()],
  )
  assert.is((await nextOf({}, MINUTE_MS + 1))[0]![1], now, 'the pause has ended')
})

test('queue view: the last reply is that of the account due first, or of the requested account', async t => {
  const { account, domain, change, sendBy, view } = await open(t)
  const first = account()
  const second = account()
  for (const [accountId, name, nextAt] of [
    [first, 'one.test', 2_000],
    [second, 'two.test', 1_000],
  ] as const) {
    domain(accountId, name)
    await sendBy(accountId, { from: `me@${name}`, to: [`${name}@there.test`] })
    const set = `update deliveries set class = 2, next_at = ?, last_reply = ? where address = ?`
    change(set, nextAt, `451 ${name}`, `${name}@there.test`)
  }
  const told = async (accountId: Id | null) =>
    (await view({ accountId })).entries.map(entry => entry.lastReply)
  assert.equal(await told(null), ['451 two.test'])
  assert.equal(await told(first), ['451 one.test'])
})

test('queue view: mail held by email is counted as held', async t => {
  const { send, claim, accountId, parts, admin } = await open(t)
  const emailId = await send('a@there.test')
  await admin.hold({ domain: null, accountId: null, broadcastId: null, emailId }, null)
  await claim(accountId)
  assert.equal(await parts(), [['there.test', 0, 0, 0, 1]])
})

test('queue view: age limits double from five minutes on', async t => {
  const { change, send, rows, view, clock } = await open(t)
  const ages = [0, 4, 6, 19, 100, 1_279, 1_281, 9_999]
  for (const _ of ages) await send('a@there.test')
  const now = clock.now() + 10_000 * MINUTE_MS
  const ids = rows<{ id: Id }>('select email_id as id from deliveries order by email_id')
  for (const [i, { id }] of ids.entries()) {
    const older = Buffer.from(id)
    older.writeUIntBE(now - ages[i]! * MINUTE_MS, 0, 6)
    change('update deliveries set email_id = ? where email_id = ?', older, id)
  }
  const { entries, totals } = await view({ now })
  assert.equal(entries[0]!.ages, [2, 1, 1, 0, 0, 1, 0, 0, 1, 2])
  assert.equal(totals.ages, entries[0]!.ages)
  assert.is(entries[0]!.oldestAt, now - 9_999 * MINUTE_MS)
})

test('queue view: deliveries are grouped by destination where it is known', async t => {
  const { send, goesTo, parts, view } = await open(t)
  goesTo('one.test', 'mx.big.test')
  goesTo('two.test', 'mx.big.test')
  await send('a@one.test', 'b@two.test', 'c@three.test')
  assert.equal(await parts({ by: 'destination' }), [
    ['mx.big.test', 2, 0, 0, 0],
    [null, 1, 0, 0, 0],
  ])
  assert.equal(
    (await view()).entries.map(({ name, destination }) => [name, destination]),
    [
      ['one.test', 'mx.big.test'],
      ['three.test', null],
      ['two.test', 'mx.big.test'],
    ],
  )
})

test('queue view: the view can be restricted to an account, a domain or a class', async t => {
  const { send, account, domain, submit, parts, accountId } = await open(t)
  const other = account('Other')
  domain(other, 'other.test')
  await send('a@there.test', 'b@far.test')
  await submit(other, { from: 'x@other.test', to: ['z@there.test'] })
  assert.equal(await parts({ accountId: other }), [['there.test', 1, 0, 0, 0]])
  assert.equal(await parts({ accountId, domain: 'far.test' }), [['far.test', 1, 0, 0, 0]])
  assert.equal(await parts({ class: 2 }), [])
})

test('queue view: pages have the totals of the whole queue', async t => {
  const { send, view } = await open(t)
  await send(...Array.from({ length: 7 }, (_, i) => `a@d${i}.test`))
  const { total, totals, entries } = await view({ limit: 3, offset: 6 })
  assert.equal([total, totals.neverTried, entries.map(({ name }) => name)], [7, 7, ['d6.test']])
})

test('queue view: more queue keys than are read at once are counted completely', async t => {
  const { send, view } = await open(t)
  for (let email = 0; email < 11; email++)
    await send(...Array.from({ length: 50 }, (_, i) => `a@d${email * 50 + i}.test`))
  const { total, totals } = await view()
  assert.equal([total, totals.neverTried], [550, 550])
})

test('queue view: the view is read from the index alone', async t => {
  const { rows } = await open(t)
  const plan = planOf(
    { rows },
    `select domain, class, account_id, count(*), min(next_at), min(email_id) from deliveries
     where state = 0 and (domain, class, account_id) > ('a', 0, ?)
     group by domain, class, account_id order by domain, class, account_id limit 500`,
    Buffer.alloc(16),
  )
  assert.match(plan, /deliveries_due/)
  assert.not.match(plan, /temp b-tree|Sort/i)
})

test.run()
