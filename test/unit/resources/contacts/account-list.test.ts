import * as assert from 'uvu/assert'
import { type Id, idKey } from '../../../../src/lib/ids.ts'
import { listAccountContacts } from '../../../../src/resources/contacts/account-list.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('contacts: all of an account', { limitMs: 30_000 })
const NAMES = ['ann', 'bob', 'cid', 'dan', 'eva', 'fay']

test('account contacts: each address is listed once, in both page directions', async t => {
  const store = await t.using(openLocalStore())
  const { account, clock } = postOver(store)
  const newAudience = async (accountId: Id) => {
    const id = newId(clock.now())
    await store.run('createAudience', { accountId, id, name: 'All', at: clock.now() })
    return id
  }
  const places = fc.array(fc.record({ audience: fc.nat(2), name: fc.constantFrom(...NAMES) }), {
    maxLength: 12,
  })
  const cases = fc.record({
    audienceCount: fc.integer({ min: 1, max: 3 }),
    places,
    size: fc.integer({ min: 1, max: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ audienceCount, places, size }) => {
      const accountId = account()
      // one that is gone has contacts for a while, which count for nothing
      const gone = await newAudience(accountId)
      const audiences: Id[] = []
      for (let i = 0; i < audienceCount; i++) {
        audiences.push(await newAudience(accountId))
      }
      const held = new Map<string, { audience: number; key: string }>()
      const add = async (audienceId: Id, name: string) => {
        clock.advance(1)
        const id = newId(clock.now())
        const answer = await store.run('addContact', {
          ...{ accountId, audienceId, id, at: clock.now() },
          fields: {
            ...{ email: `${name}@there.test`, firstName: null, lastName: null, unsubscribed: false },
            properties: new Map(),
          },
        })
        return 'refused' in answer ? undefined : id
      }
      const order: { audience: number; name: string; key: string }[] = []
      for (const { audience, name } of places) {
        if (audience >= audienceCount) continue
        const id = await add(audiences[audience]!, name)
        if (id) order.push({ audience, name, key: idKey(id) })
      }
      await add(gone, 'ann')
      await store.run('deleteAudience', { accountId, id: gone, at: clock.now() })
      for (const { audience, name, key } of order) {
        const known = held.get(name)
        if (!known || audience < known.audience) held.set(name, { audience, key })
      }
      const ask = (search: string, limit: number, over: object = {}) =>
        listAccountContacts(store.db, 0, { accountId, search, limit, offset: 0, cursor: null, ...over }, size)
      for (const search of ['', 'a']) {
        const expected = order
          .filter(({ name, key }) => held.get(name)!.key === key && name.includes(search))
          .toSorted((a, b) => a.audience - b.audience || (a.key < b.key ? 1 : -1))
          .map(({ key }) => key)
        const whole = (await ask(search, 100))!
        assert.equal([whole.total, whole.hasMore], [expected.length, false])
        assert.equal(
          whole.rows.map(({ id }) => idKey(id)),
          expected,
        )
        for (let i = 0; i < expected.length; i++) {
          const keysOf = (found: typeof whole) => found.rows.map(({ id }) => idKey(id))
          const { id } = whole.rows[i]!
          const older = (await ask(search, 2, { cursor: { id, side: 'older' } }))!
          assert.equal(
            [keysOf(older), older.hasMore, older.total],
            [expected.slice(i + 1, i + 3), i + 3 < expected.length, expected.length],
          )
          const newer = (await ask(search, 2, { cursor: { id, side: 'newer' } }))!
          assert.equal([keysOf(newer), newer.hasMore], [expected.slice(Math.max(0, i - 2), i), i > 2])
          const below = (await ask(search, 2, { offset: i }))!
          assert.equal([keysOf(below), below.hasMore], [expected.slice(i, i + 2), i + 2 < expected.length])
        }
      }
    }),
    { numRuns: 25 },
  )
})

test('account contacts: a cursor of a deleted contact gives no page', async t => {
  const store = await t.using(openLocalStore())
  const { account, clock } = postOver(store)
  const accountId = account()
  const question = { accountId, search: '', limit: 2, offset: 0, cursor: null }
  assert.equal(await listAccountContacts(store.db, 0, question), { total: 0, hasMore: false, rows: [] })
  for (const name of ['One', 'Two'])
    await store.run('createAudience', { accountId, id: newId(clock.now()), name, at: clock.now() })
  const cursor = { id: newId(clock.now()), side: 'older' as const }
  assert.is(await listAccountContacts(store.db, 0, { ...question, cursor }), undefined)
})

test.run()
