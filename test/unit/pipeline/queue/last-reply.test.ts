import * as assert from 'uvu/assert'
import { findLastReply } from '../../../../src/pipeline/queue/view.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/last-reply')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const set = (address: string, values: string) =>
    store.change(`update deliveries set ${values} where address = ?`, address)
  return { ...store, ...post, accountId, set }
}

test('queue view: an empty queue has no last reply', async t => {
  const { db } = await open(t)
  assert.is(await findLastReply(db, 'there.test'), undefined)
})

test('queue view: the last reply is that of the deferred delivery due first', async t => {
  const { db, send, accountId, clock, set } = await open(t)
  const first = clock.now()
  await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@there.test', 'd@far.test', 'e@done.test'] })
  clock.advance(60_000)
  await send(accountId, { to: ['f@there.test', 'g@far.test'] })
  set(
    'a@there.test',
    `class = 2, next_at = ${first + 500_000}, last_reply = '451 busy', last_mx_host = 'mx.there.test'`,
  )
  set('b@there.test', `class = 2, next_at = ${first + 900_000}, last_reply = '452 full'`)
  set('d@far.test', 'state = 1')
  set('g@far.test', 'state = 1, class = 2')
  set('e@done.test', 'state = 2')
  const { lastReply, lastMxHost } = (await findLastReply(db, 'there.test'))!
  assert.equal([lastReply, lastMxHost], ['451 busy', 'mx.there.test'])
  assert.is(await findLastReply(db, 'far.test'), undefined)
  assert.is((await findLastReply(db, 'there.test', accountId))?.lastReply, '451 busy')
  assert.is(await findLastReply(db, 'there.test', newId(clock.now())), undefined)
})

test.run()
