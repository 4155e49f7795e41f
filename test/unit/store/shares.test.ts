import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import { findShare, sweepShares } from '../../../src/resources/emails/share-rows.ts'
import { HOUR_MS, newId, postOver } from '../../kit/mail.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/shares')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const emailId = await post.send(accountId)
  const share = async (lastsMs: number, of = emailId) => {
    const createdAt = post.clock.now()
    const row = { id: newId(createdAt), accountId, emailId: of, tokenHash: randomBytes(32), createdAt }
    const result = await store.run('shareEmail', { ...row, expiresAt: createdAt + lastsMs })
    return { ...row, result }
  }
  const count = () => store.rows<{ count: number }>('select count(*) as count from email_shares')[0]!.count
  const sweep = async () => {
    for await (const _ of sweepShares({ run: store.run, clock: post.clock })) await Promise.resolve()
  }
  return { ...store, clock: post.clock, accountId, emailId, share, count, sweep }
}

test('shares: expired links are deleted, others stay', async t => {
  const { share, count, sweep, clock, find } = await open(t)
  const short = await share(HOUR_MS)
  const long = await share(2 * HOUR_MS)
  clock.advance(HOUR_MS - 1)
  await sweep()
  assert.is(count(), 2)
  clock.advance(1)
  await sweep()
  assert.is(count(), 1)
  assert.is(await findShare(find, short.tokenHash), undefined)
  assert.ok(await findShare(find, long.tokenHash))
})

test('shares: each sweep step deletes a few', async t => {
  const { share, count, run, clock } = await open(t)
  for (let i = 0; i < 7; i++) await share(HOUR_MS + i)
  clock.advance(2 * HOUR_MS)
  const forget = () => run('forgetShares', { before: clock.now(), limit: 3 })
  assert.equal([await forget(), await forget(), await forget(), await forget()], [3, 3, 1, 0])
  assert.is(count(), 0)
})

test('shares: a deleted email cannot be shared', async t => {
  const { share, count, clock } = await open(t)
  assert.is((await share(HOUR_MS, newId(clock.now()))).result, 'gone')
  assert.is(count(), 0)
})

test('shares: expired links do not count towards the limit', async t => {
  const { share, clock } = await open(t)
  for (let i = 0; i < 100; i++) assert.is((await share(HOUR_MS)).result, 'shared')
  assert.is((await share(HOUR_MS)).result, 'too-many')
  clock.advance(HOUR_MS)
  assert.is((await share(HOUR_MS)).result, 'shared')
})

test('shares: a link is revoked through its own email only', async t => {
  const { share, run, accountId, emailId, clock, count } = await open(t)
  const { id } = await share(HOUR_MS)
  const revoke = (of: Partial<{ accountId: Uint8Array; emailId: Uint8Array; id: Uint8Array }>) =>
    run('revokeShare', { accountId, emailId, id, ...of })
  const other = newId(clock.now())
  for (const wrong of [{ accountId: other }, { emailId: other }, { id: other }])
    assert.is(await revoke(wrong), false)
  assert.is(count(), 1)
  assert.equal([await revoke({}), await revoke({})], [true, false])
})

test.run()
