import * as assert from 'uvu/assert'
import { foldText } from '../../../../src/lib/fold-text.ts'
import { type Id, idKey } from '../../../../src/lib/ids.ts'
import { listInbound } from '../../../../src/resources/emails/inbound-list.ts'
import { areUnread, countUnread } from '../../../../src/resources/emails/inbound-unread.ts'
import { kyselyOver } from '../../../../src/store/sqlite/kysely.ts'
import { insertRows, SQLITE_ONLY } from '../../../kit/database.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore, openSqliteStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('emails/inbound-unread')
const START = Date.UTC(2026, 10, 1)

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accounts = [post.account('a'), post.account('b')] as const
  let at = post.clock.now() + 1
  /** Adds messages, one a millisecond. */
  const add = (accountId: Id, count: number, unread: 0 | 1): Id[] => {
    const ids = Array.from({ length: count }, () => newId(at++))
    const more = { account_id: accountId, subject: foldText('hi'), domains: ' here.test ', unread }
    insertRows(
      store,
      'inbound_subjects',
      ids.map(id => ({ id, ...more })),
    )
    return ids
  }
  return { ...store, accounts, add, next: () => at }
}

test('unread messages of one account after the horizon are counted, up to 999', async t => {
  const { db, accounts, add, next } = await open(t)
  const [a, b] = accounts
  add(a, 999, 1)
  add(a, 5, 0)
  const first = next()
  add(b, 3, 1)
  const count = (accountId: Id, horizon = 0) => countUnread(db, { accountId, horizon })
  assert.equal(await count(a), { count: 999, hasMore: false })
  assert.equal(await count(b), { count: 3, hasMore: false })
  assert.equal(await count(b, first), { count: 2, hasMore: false })
  add(a, 1, 1)
  assert.equal(await count(a), { count: 999, hasMore: true })
})

test('messages of one account are marked, and unknown ones left out', async t => {
  const { run, find, accounts, add } = await open(t)
  const [a, b] = accounts
  const [one, two] = add(a, 2, 1)
  const [theirs] = add(b, 1, 1)
  const changed = await run('setInboundUnread', {
    accountId: a,
    ids: [two!, theirs!, newId(START)],
    unread: 0,
  })
  assert.equal(changed.map(idKey), [idKey(two!)])
  assert.equal(await areUnread(find, a, [one!, two!, theirs!]), [true, false, false])
  assert.equal(await areUnread(find, b, [theirs!]), [true])
})

test(
  'unread messages are counted, listed and searched by an index of them alone',
  async t => {
    const { connection } = await t.using(openSqliteStore())
    const statements: string[] = []
    const db = kyselyOver({
      ...connection,
      prepare(sql) {
        statements.push(sql)
        return connection.prepare(sql)
      },
    })
    const sight = { accountId: newId(START), horizon: START }
    const page = { limit: 10, offset: 0, cursor: null }
    const find = async () => []
    await countUnread(db, sight)
    for (const search of ['', 'lamp']) {
      const filter = { search, domain: search === '' ? null : 'here.test', unread: true }
      await listInbound({ db, find }, sight, filter, page, ['id'])
    }
    const plans = statements.map(sql => {
      const values = Array.from(sql.matchAll(/\?/g), () => Buffer.alloc(16))
      const steps = connection.raw.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[]
      return steps.map(({ detail }) => detail).join('; ')
    })
    assert.ok(plans.length >= 5)
    for (const plan of plans)
      assert.match(plan, /SEARCH inbound_subjects USING COVERING INDEX inbound_subjects_unread/)
  },
  SQLITE_ONLY,
)

test.run()
