import * as assert from 'uvu/assert'
import { findLastReply, listWaitingDomains } from '../../../src/store/queue/waiting.ts'
import { newId, postOver } from '../../kit/mail.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store: what waits')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const set = (address: string, values: string) =>
    store.change(`update deliveries set ${values} where address = ?`, address)
  return { ...store, ...post, accountId, set }
}

test('nothing waits in an empty queue', async t => {
  const { db } = await open(t)
  assert.equal(await listWaitingDomains(db), [])
  assert.is(await findLastReply(db, 'there.test'), undefined)
})

test('fresh, deferred and leased deliveries are counted by domain, finished and scheduled ones are not', async t => {
  const { db, send, accountId, clock, set } = await open(t)
  const first = clock.now()
  await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@there.test', 'd@far.test', 'e@done.test'] })
  clock.advance(60_000)
  await send(accountId, { to: ['f@there.test', 'g@far.test'] })
  await send(accountId, { to: ['h@later.test'], scheduledAt: clock.now() + 1_000_000 })
  set(
    'a@there.test',
    `class = 2, next_at = ${first + 500_000}, last_reply = '451 busy', last_mx_host = 'mx.there.test'`,
  )
  set('b@there.test', `class = 2, next_at = ${first + 900_000}, last_reply = '452 full'`)
  set('d@far.test', 'state = 1')
  set('g@far.test', 'state = 1, class = 2')
  set('e@done.test', 'state = 2')
  assert.equal(await listWaitingDomains(db), [
    { domain: 'there.test', freshCount: 2, deferredCount: 2, leasedCount: 0, oldestAt: first, nextAt: first },
    { domain: 'far.test', freshCount: 0, deferredCount: 0, leasedCount: 2, oldestAt: first, nextAt: null },
  ])
  assert.equal(await findLastReply(db, 'there.test'), { lastReply: '451 busy', lastMxHost: 'mx.there.test' })
  assert.is(await findLastReply(db, 'far.test'), undefined)
  assert.is((await findLastReply(db, 'there.test', accountId))?.lastReply, '451 busy')
  assert.is(await findLastReply(db, 'there.test', newId(clock.now())), undefined)
})

test('domains with as many deliveries stand in alphabetical order', async t => {
  const { db, send, accountId } = await open(t)
  await send(accountId, { to: ['a@z.test', 'a@b.test', 'a@m.test'] })
  assert.equal(
    (await listWaitingDomains(db)).map(({ domain }) => domain),
    ['b.test', 'm.test', 'z.test'],
  )
})

test.run()
