import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import {
  newestUnlistedSmallInbound,
  unlistedLargeInbound,
  unlistedSmallInbound,
} from '../../../../src/resources/emails/inbound-rows.ts'
import { INLINE_BYTES_MAX } from '../../../../src/store/blobs/staged.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('emails/inbound-rows')
const SMALL = INLINE_BYTES_MAX
const LARGE = INLINE_BYTES_MAX + 1

/** A store into which messages are taken whose declared size is not that of their bytes. */
async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accounts = [post.account('a'), post.account('b'), post.account('c')] as const
  const blob = await store.blobs.stage(Buffer.from('Subject: x\r\n\r\nx'))
  /** Each message has a sender of its own, by which it is recognised. */
  const take = async (sender: string, sizeBytes: number, accountId: Id = accounts[0]) => {
    await store.run('storeInbound', {
      messages: [{ accountId, domainId: newId(1), recipients: ['bob@here.test'] }],
      ...{ sender, clientIp: '192.0.2.1', helo: null, tls: null, sizeBytes, blob },
      ...{ source: null, at: post.clock.now() },
    })
    post.clock.advance(1)
  }
  /** Marks a message as one that has been read. */
  const list = (sender: string) =>
    store.change('update inbound_messages set listed_at = 1 where sender = ?', sender)
  const small = async (limit = 100) => (await unlistedSmallInbound(store.db, limit)).map(row => row.sender)
  const large = async (limit = 100) => (await unlistedLargeInbound(store.db, limit)).map(row => row.sender)
  const newest = async (limit = 100) =>
    (await newestUnlistedSmallInbound(store.db, limit)).map(row => row.sender)
  return { ...store, accounts, take, list, small, newest, large }
}

test('each unlisted message is found by its size, oldest first, and a listed one is not found', async t => {
  const { take, list, small, newest, large } = await open(t)
  for (const name of ['1', '2', '3']) {
    await take(`small-${name}`, SMALL)
    await take(`large-${name}`, LARGE)
  }
  assert.equal(await small(), ['small-1', 'small-2', 'small-3'])
  assert.equal(await newest(), ['small-3', 'small-2', 'small-1'])
  assert.equal(await large(), ['large-1', 'large-2', 'large-3'])
  await list('small-2')
  await list('large-2')
  assert.equal(await small(), ['small-1', 'small-3'])
  assert.equal(await large(), ['large-1', 'large-3'])
  assert.equal(await newest(), ['small-3', 'small-1'])
  assert.equal([await small(1), await newest(1), await large(1)], [['small-1'], ['small-3'], ['large-1']])
})

test('accounts take turns with large messages: the oldest of each, then the second of each', async t => {
  const { accounts, take, large } = await open(t)
  for (const name of ['a1', 'a2', 'a3']) await take(name, LARGE, accounts[0])
  await take('b1', LARGE, accounts[1])
  for (const name of ['c1', 'c2']) await take(name, LARGE, accounts[2])
  assert.equal(await large(), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  assert.equal(await large(4), ['a1', 'b1', 'c1', 'a2'])
})

test('four large messages of an account are looked up; listed ones do not take the places of others', async t => {
  const { accounts, take, list, large } = await open(t)
  for (let i = 1; i <= 6; i++) await take(`a${i}`, LARGE)
  await take('b1', LARGE, accounts[1])
  assert.equal(await large(), ['a1', 'b1', 'a2', 'a3', 'a4'])
  for (const name of ['a1', 'a2', 'a3', 'a4']) await list(name)
  assert.equal(await large(), ['a5', 'b1', 'a6'])
})

test('small messages of an account do not take the places of its large ones', async t => {
  const { take, large } = await open(t)
  for (let i = 1; i <= 5; i++) await take(`small-${i}`, SMALL)
  await take('large', LARGE)
  assert.equal(await large(), ['large'])
})

test.run()
