import * as assert from 'uvu/assert'
import { type Id, idKey } from '../../../../src/lib/ids.ts'
import {
  listRecipients,
  type RecipientQuestion,
} from '../../../../src/pipeline/broadcasts/broadcast-recipients.ts'
import { sweepOutcomes } from '../../../../src/resources/retention/sweepers.ts'
import { planOf } from '../../../kit/database.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { manyContacts, openBroadcasts } from './scene.ts'

const test = suite('broadcasts/outcomes')
const DAY_MS = 86_400_000
const RETENTION_DAYS = 7

async function open(t: TestContext, options: Parameters<typeof openBroadcasts>[1] = {}) {
  const scene = await openBroadcasts(t, options)
  const { db, run, clock, accountId, broadcasts } = scene
  const list = async (id: Id, over: Partial<RecipientQuestion>) => {
    const { broadcast } = (await broadcasts.find(accountId, id))!
    return listRecipients(db, {
      ...{ broadcast, horizon: 0, type: 'skipped' as const, address: null, bounceType: null },
      ...{ skipReason: null, link: null, isCounted: true, page: { limit: 1_000, offset: 0, cursor: null } },
      ...over,
    })
  }
  return {
    ...scene,
    list,
    /** Addresses of one page that has all, in the order of the list. */
    async listed(id: Id, over: Partial<RecipientQuestion> = {}) {
      const { rows, total, hasMore } = await list(id, over)
      assert.equal([total, hasMore], [rows.length, false])
      return rows.map(({ address }) => address)
    },
    leave: (address: string, broadcastId: Id) =>
      run('leave', { accountId, address, topicId: null, broadcastId, at: clock.now() }),
    /** @returns how many steps it took */
    async sweep() {
      const plans = { named: () => ({ retentionDays: RETENTION_DAYS, daily: null, monthly: null }) }
      let steps = 0
      for await (const _ of sweepOutcomes({ db, run, plans, clock })) steps++
      return steps
    },
  }
}

test('outcomes: each number of skipped recipients has a list of that length, with the reason', async t => {
  // given: 400 contacts, of whom every fourth cannot be sent to, and a quota for 260
  const quota = { daily: 260, monthly: 1_000 }
  const { contacts, topic, say, suppress, sending, work, change, counts, listed, list, accountId } =
    await open(t, { quota })
  const topicId = topic()
  const people = manyContacts(400)
  const ids = contacts(people.map((person, i) => ({ ...person, unsubscribed: i % 16 === 0 })))
  for (let i = 4; i < 400; i += 16) say(ids[i]!, topicId, 0)
  for (let i = 8; i < 400; i += 16) suppress(accountId, people[i]!.email)

  // when: it is sent, and some contacts are deleted before their emails are created
  const id = await sending({ topicId })
  await work(2)
  for (let i = 12; i < 400; i += 16) change('delete from contacts where id = ?', ids[i])
  await work()

  // then: every number is the length of its list
  const reasons = { unsubscribed: 25, opted_out: 25, suppressed: 25, deleted: 25, quota: 40 }
  const skipped = Object.entries(reasons).map(([reason, count]) => [`skipped.${reason}`, count])
  assert.equal(await counts(id), { 'status.queued': 260, ...Object.fromEntries(skipped) })
  for (const [reason, count] of Object.entries(reasons)) {
    const skipReason = reason as keyof typeof reasons
    const addresses = await listed(id, { skipReason })
    assert.is(addresses.length, count, reason)
    assert.is(new Set(addresses).size, reason === 'deleted' ? 1 : count)
  }
  assert.equal(new Set(await listed(id, { skipReason: 'deleted' })), new Set([null]))
  assert.is((await listed(id)).length, 140)
  assert.equal(await listed(id, { type: 'unsubscribed' }), [], 'skipped, but not because of this broadcast')

  // then: an address is found, with its contact
  const { rows } = await list(id, { address: people[16]!.email })
  assert.equal(
    rows.map(({ address, contactId, skipReason }) => [address, idKey(contactId!), skipReason]),
    [[people[16]!.email, idKey(ids[16]!), 'unsubscribed']],
  )
})

test('outcomes: pages of skipped recipients follow each other in both directions', async t => {
  const { contacts, sending, work, list } = await open(t)
  contacts(manyContacts(25).map(person => ({ ...person, unsubscribed: true })))
  const id = await sending()
  await work()
  const all = (await list(id, {})).rows.map(({ address }) => address)
  const page = (side: 'older' | 'newer', at: Id | undefined) => ({
    isCounted: false,
    page: { limit: 10, offset: 0, cursor: at ? { id: at, side } : null },
  })
  const first = await list(id, page('older', undefined))
  const second = await list(id, page('older', first.rows.at(-1)!.id))
  const third = await list(id, page('older', second.rows.at(-1)!.id))
  const back = await list(id, page('newer', third.rows[0]!.id))
  const addresses = ({ rows }: typeof first) => rows.map(({ address }) => address)
  assert.equal([...addresses(first), ...addresses(second), ...addresses(third)], all)
  assert.equal([first.hasMore, second.hasMore, third.hasMore], [true, true, false])
  assert.equal(addresses(back), addresses(second))
})

test('outcomes: who unsubscribes is listed once, newest first, until the end of the retention', async t => {
  const { contacts, sending, work, leave, counts, list, listed, clock, sweep, rows } = await open(t)
  const [, ben] = contacts(['ann', 'ben', 'cleo'].map(name => ({ email: `${name}@there.test` })))
  const [id, other] = [await sending(), await sending()]
  await work()
  await leave('ann@there.test', id)
  clock.advance(DAY_MS)
  assert.equal([await leave('ben@there.test', id), await leave('ben@there.test', id)], ['done', 'known'])
  await leave('cleo@there.test', other)
  assert.equal(await listed(id, { type: 'unsubscribed' }), ['ben@there.test', 'ann@there.test'])
  assert.is((await counts(id))['reaction.unsubscribed'], 2)
  const { rows: found } = await list(id, { type: 'unsubscribed', address: 'ben@there.test' })
  assert.equal(
    found.map(({ contactId, skipReason }) => [idKey(contactId!), skipReason]),
    [[idKey(ben!), null]],
  )

  // when: the retention of the first has passed
  clock.advance((RETENTION_DAYS - 1) * DAY_MS + 1)
  const horizon = clock.now() - RETENTION_DAYS * DAY_MS
  assert.equal(
    await listed(id, { type: 'unsubscribed', horizon }),
    ['ben@there.test'],
    'out of sight at once',
  )
  await sweep()

  // then: only that row is gone, and the number stays
  assert.equal(await listed(id, { type: 'unsubscribed' }), ['ben@there.test'])
  assert.equal(await listed(other, { type: 'unsubscribed' }), ['cleo@there.test'])
  assert.is((await counts(id))['reaction.unsubscribed'], 2)
  clock.advance(DAY_MS)
  await sweep()
  assert.equal(rows('select 1 from broadcast_outcomes'), [])
})

test('outcomes: those of a deleted broadcast are deleted in steps, those of others stay', async t => {
  const { contacts, sending, work, broadcasts, accountId, sweep, rows } = await open(t)
  contacts(manyContacts(1_200).map(person => ({ ...person, unsubscribed: true })))
  const id = await sending()
  await work(6)
  const skippedCount = rows('select 1 from broadcast_outcomes').length
  assert.ok(skippedCount > 500 && skippedCount < 1_200, `${skippedCount} skipped`)
  await broadcasts.cancel(accountId, id)
  await work()
  const other = await sending()
  await work()
  assert.is(await sweep(), 2, 'a step per broadcast')
  assert.is(rows('select 1 from broadcast_outcomes').length, skippedCount + 1_200)
  assert.is(await broadcasts.delete(accountId, id), true)
  assert.ok((await sweep()) > 2)
  assert.equal(rows('select distinct broadcast_id as id from broadcast_outcomes'), [
    { id: Buffer.from(other) },
  ])
})

test('outcomes: whether an address has left is looked up in the index of those who have', async t => {
  const { rows } = await open(t)
  const plan = planOf(
    { rows },
    `select id from broadcast_outcomes
     where account_id = ? and broadcast_id = ? and email = ? and skip_reason is null`,
    ...[Buffer.alloc(16), Buffer.alloc(16), 'ann@there.test'],
  )
  assert.match(plan, 'broadcast_outcomes_unsubscribed')
})

test.run()
