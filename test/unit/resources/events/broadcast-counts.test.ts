import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { listBroadcastLinks } from '../../../../src/pipeline/broadcasts/broadcast-links.ts'
import { readBroadcastCounts } from '../../../../src/resources/events/broadcast-counts.ts'
import { endings, finishFor, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('events/broadcast-counts')

/** An account with emails of a broadcast. */
async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const broadcastId = newId(post.clock.now())
  const send = async () => {
    const id = await post.send(accountId)
    store.change('update emails set broadcast_id = ? where id = ?', broadcastId, id)
    return id
  }
  const counts = async (id: Id = broadcastId) => {
    const all = await readBroadcastCounts(store.db, { accountId, broadcastId: id })
    return Object.fromEntries(Object.entries(all).filter(([, count]) => count !== 0))
  }
  return { ...store, ...post, accountId, broadcastId, send, counts }
}

test('broadcast totals: they follow the statuses of its emails', async t => {
  const { send, claim, run, accountId, counts, clock } = await open(t)
  await send()
  await send()
  const [one, other] = await claim(accountId)
  await run('finish', finishFor(one!, clock.now()))
  await run('finish', finishFor(other!, clock.now(), endings.bounced()))
  // they were no broadcast's when they were accepted
  assert.equal(await counts(), { 'status.queued': -2, 'status.delivered': 1, 'status.bounced': 1 })
})

test('broadcast totals: opens and clicks are counted in total and per distinct recipient', async t => {
  const { send, claim, run, db, accountId, counts, clock, broadcastId } = await open(t)
  const emailId = await send()
  const [delivery] = await claim(accountId)
  await run('finish', finishFor(delivery!, clock.now()))
  const ref = { accountId, emailId, ordinal: 0, at: clock.now(), data: {} }
  for (let i = 0; i < 3; i++) await run('opened', ref)
  const link = { number: 70_000, url: 'https://simulator.test/' }
  for (let i = 0; i < 2; i++) await run('clicked', { ...ref, link })
  const { 'status.queued': _, 'status.delivered': __, ...reactions } = await counts()
  assert.equal(reactions, {
    'reaction.opened': 3,
    'reaction.unique_opened': 1,
    'reaction.clicked': 2,
    'reaction.unique_clicked': 1,
  })
  assert.equal(await counts(newId(1)), {}, 'nothing of another')
  const [listed] = (await listBroadcastLinks(db, { accountId, broadcastId }, { limit: 10, offset: 0 })).rows
  const { url, clickCount, uniqueCount, machineCount } = listed!
  assert.equal([url, clickCount, uniqueCount, machineCount], [link.url, 2, 1, 0], 'its links say the same')
  assert.ok(broadcastId)
})

test('broadcast totals: deleted emails stay counted', async t => {
  const { send, claim, run, accountId, counts, clock, rows } = await open(t)
  await send()
  const [delivery] = await claim(accountId)
  await run('finish', finishFor(delivery!, clock.now()))
  const before = await counts()
  await run('deleteBeyond', { accountId, horizon: clock.now() })
  assert.equal(rows('select id from emails'), [])
  assert.equal(await counts(), before)
})

test.run()
