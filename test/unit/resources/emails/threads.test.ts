import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import {
  countThreads,
  messageKey,
  THREAD_MESSAGES_MAX,
  threadRefs,
} from '../../../../src/resources/emails/threads.ts'
import { insertRows } from '../../../kit/database.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore, openSqliteStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('emails/threads')
const NOW = Date.UTC(2026, 10, 1)
const keysOf = (...ids: string[]) => ids.map(id => messageKey(id))

test('the parents are those of In-Reply-To, then the references from the last one; the root is the first', () => {
  const refs = threadRefs(
    [
      ['References', '<root@x> <middle@x>\r\n <parent@x>'],
      ['in-reply-to', '<parent@x>'],
    ],
    '<own@x>',
  )
  assert.equal(refs.own, messageKey('<own@x>'))
  assert.equal(refs.parents, keysOf('<parent@x>', '<middle@x>', '<root@x>'))
  assert.equal(refs.root, messageKey('<root@x>'))
})

test('a message without references has no parents, and one without a legible Message-ID no key', () => {
  assert.equal(threadRefs([['Subject', '<a@x>']], null), { own: null, parents: [], root: null })
  assert.is(threadRefs([], 'no brackets').own, null)
  assert.is(threadRefs([], `<${'x'.repeat(1_000)}@x>`).own, null)
  const answering = threadRefs([['In-Reply-To', 'Your message <a@x> of today']], null)
  assert.equal([answering.parents, answering.root], [keysOf('<a@x>'), messageKey('<a@x>')])
})

test('of thousands of references, the last ones and the first one count', () => {
  const ids = Array.from({ length: 20_000 }, (_, i) => `<${i}@x>`)
  const { parents, root } = threadRefs([['References', ids.join(' ')]], '<own@x>')
  assert.equal(parents, keysOf(...ids.slice(-20).reverse()))
  assert.equal(root, messageKey('<0@x>'))
  assert.is(threadRefs([['In-Reply-To', ids.join('')]], null).parents.length, 20)
})

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const add = (accountId: Id, thread: string, count: number) => {
    const rows = Array.from({ length: count }, () => ({
      ...{ account_id: accountId, id: newId(NOW), thread: messageKey(thread)!, message: null },
    }))
    insertRows(store, 'thread_messages', rows)
    return rows.map(({ id }) => id)
  }
  return { ...store, accounts: [post.account('a'), post.account('b')] as const, add }
}

test('the messages of a conversation are counted up to a limit, those of another account never', async t => {
  const { db, accounts, add } = await open(t)
  const [a, b] = accounts
  const [long] = add(a, '<long@x>', THREAD_MESSAGES_MAX + 1)
  const [short] = add(a, '<short@x>', 2)
  const [theirs] = add(b, '<short@x>', 3)
  const ids = [short!, long!, theirs!, newId(NOW)]
  assert.equal(await countThreads(db, a, ids), [2, THREAD_MESSAGES_MAX, 1, 1])
  assert.equal(await countThreads(db, b, ids), [1, 1, 3, 1])
  assert.equal(await countThreads(db, a, []), [])
})

test('look-ups of a message and of a conversation use indexes that have all columns', async t => {
  const { connection } = await t.using(openSqliteStore())
  for (const [sql, index] of [
    ['select thread from thread_messages where account_id = ? and message = ?', 'thread_messages_message'],
    [
      'select id from thread_messages where account_id = ? and thread = ? order by id desc limit 101',
      'thread_messages_thread',
    ],
  ] as const) {
    const steps = connection.raw.prepare(`explain query plan ${sql}`).all('', '') as { detail: string }[]
    assert.equal(
      steps.map(({ detail }) => detail.includes(`COVERING INDEX ${index}`)),
      [true],
    )
  }
})

test.run()
