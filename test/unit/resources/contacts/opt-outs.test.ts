import * as assert from 'uvu/assert'
import { type Id, wireId } from '../../../../src/lib/ids.ts'
import { readPreferences } from '../../../../src/pipeline/tracking/preferences.ts'
import { readBroadcastCounts } from '../../../../src/resources/events/broadcast-counts.ts'
import type { TopicVisibility } from '../../../../src/store/model/schema.ts'
import { openAudience } from '../../../kit/audience.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('contacts/opt-outs')
const ANN = 'ann@there.test'

async function open(t: TestContext) {
  const audience = await openAudience(t)
  const { run, rows, clock, accountId, audienceId } = audience
  const post = postOver(audience, { clock })
  post.domain(accountId, 'here.test')
  const topic = async (visibility: TopicVisibility = 'public') => {
    const id = newId(clock.now())
    const fields = { name: 'News', description: null, defaultSubscription: 'opt_in' as const, visibility }
    await run('createTopic', { accountId, id, fields, at: clock.now() })
    return id
  }
  const broadcastId = post.broadcast(accountId, audienceId)
  const leave = (topicId: Id | null) =>
    run('leave', { accountId, address: ANN, topicId, broadcastId, at: clock.now() })
  const ref = { accountId, audienceId, ref: { email: ANN } }
  return {
    ...audience,
    ...{ topic, leave },
    deleteBroadcast: () => audience.change('delete from broadcasts'),
    remove: () => run('removeContact', { ...ref, at: clock.now() }),
    change: (unsubscribed: boolean) =>
      run('changeContact', { ...ref, changes: { unsubscribed }, at: clock.now() }),
    prefer: (topics: readonly Id[], topicId: Id | null = null) =>
      run('setPreferences', { accountId, address: ANN, topicId, broadcastId, topics, at: clock.now() }),
    /** Topics that the preferences page shows. */
    shown: async (topicId: Id | null = null) =>
      (
        await readPreferences(audience.db, { accountId, address: ANN, topicId, broadcastId: null })
      ).topics.map(one => wireId('top', one.id)),
    /** Returns how many unsubscribed through links of the one broadcast, after comparing it with the rows. */
    unsubscribes: async () => {
      const counts = await readBroadcastCounts(audience.db, { accountId, broadcastId })
      const stored = rows(
        'select email, skip_reason from broadcast_outcomes where broadcast_id = ?',
        broadcastId,
      )
      const count = counts['reaction.unsubscribed']
      assert.equal(stored, Array(count).fill({ email: ANN, skip_reason: null }))
      return count
    },
    say: (topicId: Id, subscribed: boolean) =>
      run('subscribe', { ...ref, subscriptions: [{ topicId, subscribed }], at: clock.now() }),
    /** Returns the contact's consent: unsubscribed, and topics it has left. */
    standing: () => {
      const [contact] = rows<{ unsubscribed: number }>(
        'select unsubscribed from contacts where audience_id = ? and email = ?',
        audienceId,
        ANN,
      )
      const left = rows('select 1 from contact_topics where subscribed = 0').length
      return [contact?.unsubscribed, left]
    },
    sendAbout: async (topicId: Id) => {
      await post.send(accountId, { topicId, to: [ANN] })
      const [latest] = rows<{ status: string }>(
        'select status from deliveries order by email_id desc limit 1',
      )
      return latest!.status
    },
  }
}

test('opt-outs: an address that opted out of everything is added as unsubscribed', async t => {
  const { leave, add, remove, importFile, standing, audienceId, audienceOf } = await open(t)
  assert.is(await leave(null), 'done')
  assert.is(await leave(null), 'known')
  await add({ email: ANN })
  assert.equal(standing(), [1, 0])
  await remove()
  await importFile(`email,unsubscribed\n${ANN},no\nbob@there.test,no\n`)
  assert.equal(standing(), [1, 0])
  const { contactCount, unsubscribedCount } = await audienceOf(audienceId)
  assert.equal([contactCount, unsubscribedCount], [2, 1])
})

test('opt-outs: a deleted contact that opted out is unsubscribed after an import', async t => {
  const { leave, add, remove, importFile, standing, topic } = await open(t)
  const topicId = await topic()
  await add({ email: ANN })
  assert.is(await leave(topicId), 'done')
  assert.equal(standing(), [0, 1])
  await remove()
  assert.equal(standing(), [undefined, 0])
  await importFile(`email\n${ANN}\n`)
  assert.equal(standing(), [0, 1])
})

test('opt-outs: choices of the account are deleted with the contact', async t => {
  const { add, change, remove, importFile, standing } = await open(t)
  await add({ email: ANN })
  await change(true)
  await remove()
  await importFile(`email\n${ANN}\n`)
  assert.equal(standing(), [0, 0])
})

test('opt-outs: a copied contact keeps its subscriptions and later opt-outs', async t => {
  const { leave, add, remove, say, topic, run, rows, clock, accountId, audienceId: from } = await open(t)
  const [wanted, unwanted, left] = [await topic(), await topic(), await topic()]
  await leave(left)
  await add({ email: ANN })
  for (const [id, subscribed] of [
    [wanted, true],
    [unwanted, false],
  ] as const)
    await say(id, subscribed)
  const audienceId = newId(clock.now())
  await run('createAudience', { accountId, id: audienceId, name: 'Others', at: clock.now() })
  const [{ id }] = rows<{ id: Id }>('select id from contacts where audience_id = ?', from) as [{ id: Id }]
  const at = clock.now()
  const takeOut = () =>
    run('removeFromAudience', { accountId, audienceId: from, email: ANN, newAudienceId: newId(at), at })
  const copy = {
    accountId,
    audienceId,
    from: { audienceId: from, id },
    id: newId(clock.now()),
    at: clock.now(),
  }
  const answer = await run('copyContact', copy)
  assert.equal('contact' in answer && [answer.contact.email, answer.contact.unsubscribed_topics], [
    ANN,
    [unwanted, left].map(one => wireId('top', one)),
  ])
  assert.equal(await run('copyContact', { ...copy, id: newId(clock.now()) }), answer)
  assert.is(await takeOut(), 'removed')
  assert.equal(await remove(), { refused: 'no-contact' })
})

test('opt-outs: an address without a contact gets no mail about a topic it left', async t => {
  const { leave, topic, sendAbout } = await open(t)
  const [one, other] = [await topic(), await topic()]
  assert.is(await sendAbout(one), 'queued')
  await leave(one)
  assert.is(await sendAbout(one), 'suppressed')
  assert.is(await sendAbout(other), 'queued')
  await leave(null)
  assert.is(await sendAbout(other), 'suppressed')
})

test('opt-outs: the latest choice of owner or account counts', async t => {
  const { leave, add, remove, change, prefer, say, standing, topic, sendAbout } = await open(t)
  const [one, other] = [await topic(), await topic()]
  await leave(null)
  await prefer([one])
  assert.equal([await sendAbout(one), await sendAbout(other)], ['queued', 'suppressed'])
  await add({ email: ANN })
  assert.equal(standing(), [0, 1])
  await leave(null)
  await change(false)
  await say(other, true)
  await remove()
  await add({ email: ANN })
  assert.equal(standing(), [0, 0])
})

test('opt-outs: saving no topics keeps an opt-out of everything', async t => {
  const { leave, add, prefer, standing, topic, sendAbout } = await open(t)
  const one = await topic()
  await leave(null)
  assert.is(await prefer([]), 'known')
  assert.is(await prefer([newId(0)]), 'known', 'what is no topic is no choice')
  assert.is(await sendAbout(one), 'suppressed')
  await add({ email: ANN })
  assert.equal(standing(), [1, 0])
  assert.is(await prefer([]), 'known')
  assert.equal(standing(), [1, 0])
  await prefer([one])
  assert.equal(standing(), [0, 0])
})

test('opt-outs: saving without any topics subscribes again', async t => {
  const { leave, add, prefer, standing } = await open(t)
  await add({ email: ANN })
  await leave(null)
  await prefer([])
  assert.equal(standing(), [0, 0])
})

test('opt-outs: saving no topics does not resubscribe in an audience', async t => {
  const { add, change, prefer, topic, newAudience, contacts, rows } = await open(t)
  await topic()
  await add({ email: ANN })
  await add({ email: ANN }, await newAudience())
  await change(true)
  await prefer([])
  assert.is((await contacts())[0]!.unsubscribed, 1)
  assert.is(rows('select 1 from contact_topics where subscribed = 0').length, 2)
})

for (const is of ['a contact', 'none'])
  test(`opt-outs: topics that ${is} deselects count as one unsubscribe of the broadcast`, async t => {
    const { add, leave, prefer, topic, unsubscribes } = await open(t)
    const [one, other, third] = [await topic(), await topic(), await topic()]
    if (is === 'a contact') await add({ email: ANN })
    await prefer([one, other, third])
    assert.is(await unsubscribes(), 0)
    await prefer([third])
    await prefer([third])
    assert.is(await leave(one), 'known')
    assert.is(await unsubscribes(), 1)
    await prefer([one, third])
    assert.is(await unsubscribes(), 1, 'coming back')
    assert.is(await leave(null), 'done')
    assert.is(await unsubscribes(), 1, 'leaving again')
    await prefer([one])
    assert.is(await unsubscribes(), 1, 'coming back to less')
  })

test('opt-outs: a contact that gets an opted-out address is unsubscribed', async t => {
  const { leave, add, run, accountId, audienceId, clock, standing } = await open(t)
  await leave(null)
  await add({ email: 'bob@there.test' })
  const ref = { email: 'bob@there.test' }
  await run('changeContact', { accountId, audienceId, ref, changes: { email: ANN }, at: clock.now() })
  assert.equal(standing(), [1, 0])
})

test('opt-outs: unsubscribed: false in an import does not resubscribe', async t => {
  const { leave, add, run, accountId, audienceId, clock, standing, rows } = await open(t)
  await leave(null)
  await add({ email: 'bob@there.test' })
  const ref = { email: 'bob@there.test' }
  const changes = { email: ANN, unsubscribed: false }
  await run('changeContact', { accountId, audienceId, ref, changes, at: clock.now() })
  assert.equal(standing(), [1, 0])
  assert.is(rows('select 1 from opt_outs').length, 1)
})

test('opt-outs: a link of a deleted topic unsubscribes from everything, once', async t => {
  const { leave, add, standing, topic, unsubscribes, run, accountId, clock } = await open(t)
  const topicId = await topic()
  await run('deleteTopic', { accountId, id: topicId, at: clock.now() })
  await add({ email: ANN })
  assert.equal([await leave(topicId), await leave(topicId)], ['done', 'known'])
  assert.equal(standing(), [1, 0])
  assert.is(await unsubscribes(), 1)
})

test('opt-outs: a link of a deleted broadcast unsubscribes, and records nothing for the broadcast', async t => {
  const { leave, add, deleteBroadcast, standing, rows } = await open(t)
  await add({ email: ANN })
  deleteBroadcast()
  assert.is(await leave(null), 'done')
  assert.equal(standing(), [1, 0])
  assert.equal(rows('select 1 from broadcast_outcomes'), [])
})

test('opt-outs: opt-outs of a deleted topic are deleted', async t => {
  const { leave, topic, run, rows, accountId, clock } = await open(t)
  const topicId = await topic()
  await leave(topicId)
  await leave(null)
  await run('deleteTopic', { accountId, id: topicId, at: clock.now() })
  while (await run('deleteSayingsOf', topicId));
  assert.equal(rows('select length(scope) as bytes from opt_outs'), [{ bytes: 0 }])
})

test('topics: a private topic is shown to its subscribers, and to those whose link is about it', async t => {
  const { topic, add, say, shown } = await open(t)
  const [everybody, hidden] = [await topic(), await topic('private')]
  const wire = (...ids: Id[]) => ids.map(id => wireId('top', id))
  await add({ email: ANN })
  assert.equal(await shown(), wire(everybody, hidden))
  await say(hidden, false)
  await say(everybody, false)
  assert.equal(await shown(), wire(everybody))
  assert.equal(await shown(hidden), wire(everybody, hidden))
})

test('topics: saved preferences do not change a private topic that the page does not show', async t => {
  const { topic, add, say, prefer, leave, remove, shown, standing } = await open(t)
  const hidden = await topic('private')
  await add({ email: ANN })
  await say(hidden, false)
  await prefer([hidden])
  assert.equal([await shown(), standing()], [[], [0, 1]])
  await prefer([hidden], hidden)
  assert.equal([await shown(), standing()], [[wireId('top', hidden)], [0, 0]])
  await say(hidden, false)
  await prefer([])
  await remove()
  await add({ email: ANN })
  assert.equal(standing(), [0, 0], 'the account had left the topic for her, not she herself')
  await leave(hidden)
  await remove()
  await add({ email: ANN })
  assert.equal(standing(), [0, 1])
})

test.run()
