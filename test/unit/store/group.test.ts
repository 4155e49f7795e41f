import { sql } from 'kysely'
import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import { batchCommand, command } from '../../../src/store/model/command.ts'
import { settingCommands } from '../../../src/store/reading/settings.ts'
import { type LocalStore, openLocalStore, outputOf, refusalOf } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/group')
const accountId = createIdSource()(1)

/** Commands that do what a test wants, each in its own way. */
const scripted = {
  ...settingCommands,
  /** Writes, counts and announces, and then fails when it is told to. */
  put: command<{ key: string; fails?: boolean; delta?: number }, string>(async (tx, input) => {
    await tx.rows.insert('settings', [{ key: input.key, value: 'v' }])
    tx.count(accountId, 'things', '', input.delta ?? 1)
    tx.announce('put', input.key)
    if (input.fails) throw new Error(`told to fail: ${input.key}`)
    return `put ${input.key}`
  }),
  /** The same for a whole batch at once: it notes how many inputs it was called with. */
  putAll: batchCommand<{ key: string; fails?: boolean }, number>(async (tx, inputs) => {
    await tx.rows.insert(
      'settings',
      inputs.map(({ key }) => ({ key, value: `batch of ${inputs.length}` })),
    )
    tx.count(accountId, 'things', '', inputs.length)
    for (const { key } of inputs) tx.announce('put', key)
    const failing = inputs.find(({ fails }) => fails)
    if (failing) throw new Error(`told to fail: ${failing.key}`)
    return inputs.map(() => inputs.length)
  }),
  counted: command<null, number>(tx => tx.counted(accountId, 'things', '')),
  countThenRead: command<number, number>(async (tx, delta) => {
    tx.count(accountId, 'things', '', delta)
    return tx.counted(accountId, 'things', '')
  }),
  endTransaction: command<null, void>(async tx => {
    await sql`rollback`.execute(tx.db)
  }),
}

const open = () => openLocalStore(scripted)
const put = (key: string, more: object = {}) => ({ name: 'put', input: { key, ...more } })
const putAll = (key: string, more: object = {}) => ({ name: 'putAll', input: { key, ...more } })

function keys(store: LocalStore<typeof scripted>): string[] {
  return store.rows<{ key: string }>('select key from settings order by key').map(({ key }) => key)
}

test('group: replies are in the order of the requests, whatever the names of the commands', async t => {
  const store = await t.using(open())
  const { replies } = await store.group(
    put('a'),
    { name: 'counted', input: null },
    put('b'),
    { name: 'nonsense', input: 1 },
    put('c'),
  )
  assert.equal(
    replies.map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  )
  assert.equal(
    [0, 2, 4].map(i => outputOf(replies[i]!)),
    ['put a', 'put b', 'put c'],
  )
})

test('group: a batch command gets all its inputs of the group in one call', async t => {
  const store = await t.using(open())
  const { replies } = await store.group(putAll('a'), put('x'), putAll('b'), putAll('c'))
  assert.equal(
    [0, 2, 3].map(i => outputOf(replies[i]!)),
    [3, 3, 3],
  )
})

test('group: a failing command leaves no change and affects no other', async t => {
  const store = await t.using(open())
  const { replies, announcements } = await store.group(put('a'), put('b', { fails: true }), put('c'))
  assert.is(outputOf(replies[0]!), 'put a')
  assert.is(refusalOf(replies, 1), 'told to fail: b')
  assert.is(outputOf(replies[2]!), 'put c')
  assert.equal(keys(store), ['a', 'c'])
  assert.equal(announcements, [{ topic: 'put', payloads: ['a', 'c'] }])
  assert.is(await store.run('counted', null), 2)
})

test('group: a batch with a failing input runs its inputs singly, and only that input fails', async t => {
  const store = await t.using(open())
  const { replies, announcements } = await store.group(
    putAll('a'),
    putAll('b'),
    putAll('c', { fails: true }),
    putAll('d'),
  )
  assert.equal(
    [0, 1, 3].map(i => outputOf(replies[i]!)),
    [1, 1, 1],
  )
  assert.is(refusalOf(replies, 2), 'told to fail: c')
  assert.equal(keys(store), ['a', 'b', 'd'])
  assert.equal(announcements, [{ topic: 'put', payloads: ['a', 'b', 'd'] }])
  assert.is(await store.run('counted', null), 3)
})

test('group: a violated constraint fails its command alone', async t => {
  const store = await t.using(open())
  const { replies } = await store.group(put('same'), put('same'), put('other'))
  assert.is(replies[0]!.ok, true)
  assert.match(
    refusalOf(replies, 1),
    /UNIQUE constraint failed: settings\.key|unique constraint "settings_pkey"/,
  )
  assert.is(replies[2]!.ok, true)
  assert.equal(keys(store), ['other', 'same'])
  assert.is(await store.run('counted', null), 2)
})

test('group: a group of failing commands does not affect the next group', async t => {
  const store = await t.using(open())
  const { replies, announcements } = await store.group(
    put('a', { fails: true }),
    putAll('b', { fails: true }),
  )
  assert.equal(
    replies.map(({ ok }) => ok),
    [false, false],
  )
  assert.equal(announcements, [])
  assert.is(await store.run('put', { key: 'c' }), 'put c')
  assert.equal(keys(store), ['c'])
})

test('group: an unknown command fails for its sender alone, also when its name is a property of every object', async t => {
  const store = await t.using(open())
  const { replies } = await store.group(
    { name: 'nonsense', input: 1 },
    put('a'),
    { name: 'toString', input: 1 },
    { name: '__proto__', input: 1 },
  )
  assert.is(refusalOf(replies, 0), 'there is no command "nonsense"')
  assert.is(refusalOf(replies, 2), 'there is no command "toString"')
  assert.is(refusalOf(replies, 3), 'there is no command "__proto__"')
  assert.equal(keys(store), ['a'])
})

test('group: counters include the changes of the group and are written once as sums', async t => {
  const store = await t.using(open())
  const counts = (...deltas: number[]) =>
    store.group(...deltas.map(delta => ({ name: 'countThenRead', input: delta })))
  assert.equal((await counts(2, 3, -1)).replies.map(outputOf), [2, 5, 4])
  assert.equal((await counts(10, -14)).replies.map(outputOf), [14, 0])
  assert.equal(store.rows('select count from counters'), [{ count: 0 }])
  assert.equal((await counts(5, -5)).replies.map(outputOf), [5, 0])
  assert.equal(store.rows('select count from counters'), [{ count: 0 }])
})

test('group: a later command reads the sum of the group', async t => {
  const store = await t.using(open())
  const { replies } = await store.group(put('a', { delta: 7 }), put('b', { fails: true, delta: 100 }), {
    name: 'counted',
    input: null,
  })
  assert.is(outputOf(replies[2]!), 7)
})

test('group: when a command ends the transaction, every command is refused and nothing is stored', async t => {
  const store = await t.using(open())
  const { replies, announcements } = await store.group(
    put('a'),
    { name: 'endTransaction', input: null },
    { name: 'putSetting', input: { key: 'b', value: '' } },
  )
  assert.equal(
    replies.map(({ ok }) => ok),
    [false, false, false],
  )
  assert.equal(announcements, [])
  assert.equal(keys(store), [])
  assert.is(await store.run('put', { key: 'c' }), 'put c')
  assert.is(await store.run('counted', null), 1)
})

test('group: its changes become visible together after the commit', async t => {
  const seen: string[][] = []
  const store: LocalStore<typeof scripted> = await t.using(
    openLocalStore({
      ...scripted,
      check: command<null, void>(async () => void seen.push(keys(store))),
    }),
  )
  await store.group(put('a'), { name: 'check', input: null })
  seen.push(keys(store))
  assert.equal(seen, [[], ['a']])
})

test('group: an empty group is committed', async t => {
  const store = await t.using(open())
  assert.equal(await store.group(), { replies: [], announcements: [], tallies: new Map() })
})

test.run()
