import * as assert from 'uvu/assert'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import { listActiveHolds } from '../../../../src/pipeline/queue/hold-rows.ts'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import { readPreferences } from '../../../../src/pipeline/tracking/preferences.ts'
import { endings, finishFor, newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { manyContacts, openBroadcasts } from './scene.ts'

const test = suite('broadcasts/stopping')

/** A broadcast of which all emails wait at one domain. */
async function open(t: TestContext, count = 10) {
  const scene = await openBroadcasts(t)
  scene.contacts(manyContacts(count, ['there.test']))
  const id = await scene.sending()
  await scene.work()
  const { accountId, claim } = scene
  return {
    ...scene,
    id,
    claimed: (limit = 100) => claim(accountId, 'there.test', { class: 1, limit }),
    statusNow: async () => (await scene.detail(id)).broadcast.status,
  }
}

test('stopping: a paused broadcast starts no attempt, and continues when resumed', async t => {
  const { broadcasts, accountId, id, claimed, statusNow, announced, settled, clock, work } = await open(t)
  assert.is((await claimed(4)).length, 4)
  await broadcasts.pause(accountId, id)
  assert.is(await statusNow(), 'paused')
  assert.equal(announced('held'), [{ domain: null, accountId, broadcastId: id, emailId: null }])
  assert.equal(await claimed(), [])
  clock.advance(3_600_000)
  assert.is(await work(), 0, 'there is nothing to be done for it')
  await broadcasts.resume(accountId, id)
  await settled()
  assert.is(await statusNow(), 'sending')
  const rest = await claimed()
  assert.is(rest.length, 6)
  assert.is(rest[0]!.expiresAt, clock.now() + 48 * 3_600_000, 'the time stood still')
})

test('stopping: a contact who unsubscribes while an email waits does not get it', async t => {
  const scene = await openBroadcasts(t)
  const { contacts, topic, say, sending, work, claim, change, counts, rows, accountId, suppress } = scene
  const topicId = topic()
  const names = ['stays', 'leaves', 'opts-out', 'is-removed', 'bounces', 'moves']
  const ids = contacts(names.map(name => ({ email: `${name}@there.test` })))
  const id = await sending({ topicId })
  await work()
  change("update contacts set unsubscribed = 1 where email = 'leaves@there.test'")
  say(ids[2]!, topicId, 0)
  change("delete from contacts where email = 'is-removed@there.test'")
  suppress(accountId, 'bounces@there.test')
  change("update contacts set email = 'moved@there.test' where email = 'moves@there.test'")
  const claimed = await claim(accountId, 'there.test', { class: 1, limit: 100 })
  assert.equal(
    claimed.map(({ address }) => address),
    ['stays@there.test'],
  )
  assert.equal(
    rows<{ address: string; reason: string }>(
      "select to_list as address, error as reason from emails where status = 'suppressed' order by id",
    ).map(({ address, reason }) => `${address.split('@')[0]}: ${reason}`),
    [
      'leaves: The recipient has unsubscribed from everything.',
      'opts-out: The recipient has unsubscribed from the topic.',
      'is-removed: No contact of the audience has this address any more.',
      'bounces: The address is on the suppression list.',
      'moves: No contact of the audience has this address any more.',
    ],
  )
  assert.equal(await counts(id), { 'status.queued': 1, 'status.suppressed': 5 })
})

test('stopping: deleting an audience suppresses all waiting emails at once', async t => {
  const { run, accountId, audienceId, claimed, clock, counts, id } = await open(t, 3)
  assert.is((await claimed(1)).length, 1)
  await run('deleteAudience', { accountId, id: audienceId, at: clock.now() })
  assert.equal(await claimed(), [])
  assert.equal(await counts(id), { 'status.queued': 1, 'status.suppressed': 2 })
})

test('stopping: a contact who unsubscribes between two attempts gets no further attempt', async t => {
  const { accountId, claimed, claim, change, clock, run } = await open(t, 2)
  const leases = await claimed()
  for (const lease of leases)
    await run('finish', finishFor(lease, clock.now(), endings.deferred(clock.now())))
  change("update contacts set unsubscribed = 1 where email = 'c0@there.test'")
  clock.advance(60_000)
  assert.equal(
    (await claim(accountId, 'there.test', { class: 2, limit: 100 })).map(({ address }) => address),
    ['c1@there.test'],
  )
})

test('stopping: members without an email at the pause get one after the resume', async t => {
  const { contacts, sending, work, broadcasts, accountId, addresses, settled } = await openBroadcasts(t)
  contacts(manyContacts(600))
  const id = await sending()
  await work(3)
  await broadcasts.pause(accountId, id)
  await work()
  assert.is(addresses().length, 250)
  await broadcasts.resume(accountId, id)
  await settled()
  await work()
  assert.is(addresses().length, 600)
  assert.is(new Set(addresses()).size, 600)
})

test('stopping: a pause is not listed as a hold of the operator', async t => {
  const { broadcasts, accountId, id, claimed, db, run, clock, settled } = await open(t)
  const queueAdmin = createQueueAdmin({ db, run, clock, newId })
  const mail = { domain: null, accountId, broadcastId: id, emailId: null }
  await broadcasts.pause(accountId, id)
  assert.equal(await listActiveHolds(db), [])
  assert.is(await queueAdmin.release(mail), undefined)
  assert.equal(await claimed(), [])
  await queueAdmin.hold(mail, 'looked into')
  await broadcasts.resume(accountId, id)
  await settled()
  assert.equal(await claimed(), [], 'the operator still holds it')
  await queueAdmin.release(mail)
  assert.is((await claimed()).length, 10)
})

test('stopping: a canceled broadcast starts no attempt, and its waiting emails are canceled', async t => {
  const { broadcasts, accountId, id, claimed, counts, work, rows, statusNow, run, clock, settled } =
    await open(t, 700)
  const [sent, deferred, underWay] = await claimed(3)
  await run('finish', finishFor(sent!, clock.now()))
  await run('finish', finishFor(deferred!, clock.now(), { ...endings.deferred(clock.now()), signedAt: 1 }))
  await broadcasts.cancel(accountId, id)
  assert.is(await statusNow(), 'canceled')
  assert.equal(await claimed(), [])
  await work()
  assert.equal(await counts(id), {
    'status.delivered': 1,
    'status.delivery_delayed': 1,
    'status.queued': 1,
    'status.canceled': 697,
  })
  await run('release', [underWay!][0]!)
  assert.equal(await claimed(), [], 'what comes back to the queue is not begun either')
  clock.advance(1_000)
  await work()
  await settled()
  assert.equal(await counts(id), {
    'status.delivered': 1,
    'status.delivery_delayed': 1,
    'status.canceled': 698,
  })
  assert.equal(rows('select 1 from queue_holds where released_at is null'), [])
  assert.equal(rows('select next_at as "nextAt" from broadcasts'), [{ nextAt: null }])
  assert.equal(rows("select count(*) as count from events where type = 'email.canceled'"), [{ count: 698 }])
})

test('stopping: emails handed over before the cancellation continue, subject to the operator’s holds', async t => {
  const { broadcasts, accountId, id, claimed, work, run, clock, settled, claim } = await open(t, 2)
  const [deferred] = await claimed(1)
  const ending = { ...endings.deferred(clock.now(), 1_000), signedAt: 1 }
  await run('finish', finishFor(deferred!, clock.now(), ending))
  await broadcasts.cancel(accountId, id)
  await work()
  await settled()
  clock.advance(1_000)
  assert.is((await claim(accountId, 'there.test', { class: 2 })).length, 1)
})

test('stopping: canceling deletes the members without an email', async t => {
  const { contacts, sending, work, broadcasts, accountId, addresses, rows, detail } = await openBroadcasts(t)
  contacts(manyContacts(1_200))
  const id = await sending()
  await work(4)
  await broadcasts.cancel(accountId, id)
  await work()
  assert.is(addresses().length, 250)
  assert.equal(rows('select 1 from broadcast_pages'), [])
  const { broadcast, counts } = await detail(id)
  assert.equal([broadcast.memberCount, broadcast.expandedCount], [1_200, 250])
  assert.is(counts['status.canceled'], 250)
})

test('stopping: a paused broadcast can be canceled, a completed one cannot', async t => {
  const { broadcasts, accountId, id, work, counts, statusNow } = await open(t)
  await broadcasts.pause(accountId, id)
  await broadcasts.cancel(accountId, id)
  await work()
  assert.equal([await statusNow(), await counts(id)], ['canceled', { 'status.canceled': 10 }])
  for (const refused of [await broadcasts.cancel(accountId, id), await broadcasts.delete(accountId, id)])
    assert.ok(isRefusal(refused) && refused.refused === 'wrong_state')
})

test('stopping: a scheduled broadcast that is canceled is a draft, which can be sent', async t => {
  const { broadcasts, accountId, work, sending, detail, clock, counts } = await open(t)
  const id = await sending({}, clock.now() + 1_000)
  const answer = await broadcasts.cancel(accountId, id)
  assert.ok(answer && !isRefusal(answer))
  assert.equal([answer.broadcast.status, answer.broadcast.scheduledAt], ['draft', null])
  clock.advance(1_000)
  await work()
  assert.equal([(await detail(id)).broadcast.status, await counts(id)], ['draft', {}])
  const again = await broadcasts.cancel(accountId, id)
  assert.ok(isRefusal(again) && again.refused === 'wrong_state')
  await broadcasts.send(accountId, id, { at: null }, null)
  await work()
  assert.equal([(await detail(id)).broadcast.status, await counts(id)], ['sending', { 'status.queued': 10 }])
})

test('stopping: a broadcast that is canceled before its first email can be deleted', async t => {
  const { broadcasts, accountId, sending, rows, work } = await open(t)
  const id = await sending({})
  await broadcasts.cancel(accountId, id)
  assert.is(await broadcasts.delete(accountId, id), true)
  assert.is(await broadcasts.find(accountId, id), undefined)
  assert.is(await work(), 0)
  assert.equal(rows('select 1 from queue_holds where broadcast_id = ? and released_at is null', id), [])
  assert.equal(rows('select 1 from broadcast_pages where broadcast_id = ?', id), [])
})

test('stopping: other mail of the account is not touched', async t => {
  const { broadcasts, accountId, id, work, send, claim, rows } = await open(t)
  const emailId = await send(accountId)
  await broadcasts.cancel(accountId, id)
  await work()
  assert.equal(rows('select status from emails where id = ?', emailId), [{ status: 'queued' }])
  assert.is((await claim(accountId)).length, 1)
})

test('stopping: the page of a link names the sender as the broadcast did, and never the account', async t => {
  const { db, accountId, id } = await open(t, 1)
  const nameOf = async (broadcastId: typeof id | null) => {
    const owner = { accountId, address: 'c0@there.test', topicId: null }
    return (await readPreferences(db, { ...owner, broadcastId })).sender.name
  }
  assert.is(await nameOf(id), 'Ann')
  assert.is(await nameOf(null), undefined)
  assert.is(await nameOf(newId(1)), undefined, 'the broadcast was deleted')
})

test('stopping: a deleted draft leaves no content', async t => {
  const { broadcasts, accountId, draft, taken, rows } = await openBroadcasts(t)
  const { broadcast } = taken(await broadcasts.create(accountId, { ...draft(), by: null }))
  const copy = taken(await broadcasts.duplicate(accountId, broadcast.id, { by: null }))
  const contentCount = () => rows('select id from contents').length
  assert.is(contentCount(), 2)
  assert.is(await broadcasts.delete(accountId, broadcast.id), true)
  assert.is(contentCount(), 1)
  assert.is(await broadcasts.delete(accountId, copy.broadcast.id), true)
  assert.is(contentCount(), 0)
})

test.run()
