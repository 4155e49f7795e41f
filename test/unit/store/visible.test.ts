import * as assert from 'uvu/assert'
import { findEmailParts } from '../../../src/resources/emails/email-rows.ts'
import { visibleSince } from '../../../src/resources/emails/visible.ts'
import { endings, finishFor, postOver } from '../../kit/mail.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/visible')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const shown = async (horizon: number) => {
    const rows = await store.db
      .selectFrom('emails')
      .select('subject')
      .where('accountId', '=', accountId)
      .where(visibleSince(horizon))
      .orderBy('id')
      .execute()
    return rows.map(({ subject }) => subject)
  }
  /** Sends an email and ends it, a minute after the one before. */
  const ended = async (subject: string, over = {}) => {
    post.clock.advance(60_000)
    const id = await post.send(accountId, { subject })
    const [delivery] = await post.claim(accountId)
    await store.run('finish', finishFor(delivery!, post.clock.now(), over))
    return { id, at: post.clock.now() }
  }
  return { ...store, ...post, accountId, shown, ended }
}

test('retention horizon: emails that ended after it are visible, others are not', async t => {
  const { ended, shown } = await open(t)
  const first = await ended('first')
  const second = await ended('second')
  assert.equal(await shown(first.at - 1), ['first', 'second'])
  assert.equal(await shown(first.at), ['second'])
  assert.equal(await shown(second.at), [])
})

test('retention horizon: emails in progress are visible at any age', async t => {
  const { ended, send, accountId, shown, clock } = await open(t)
  await ended('delayed', endings.deferred(clock.now()))
  await send(accountId, { subject: 'queued' })
  clock.advance(400 * 86_400_000)
  assert.equal(await shown(clock.now()), ['delayed', 'queued'])
})

test('retention horizon: no part of an older email can be read', async t => {
  const store = await open(t)
  const { id, at } = await store.ended('private')
  const parts = await findEmailParts(store, store.accountId, id, at - 1)
  assert.is(parts?.email.subject, 'private')
  assert.is(await findEmailParts(store, store.accountId, id, at), undefined)
})

test.run()
