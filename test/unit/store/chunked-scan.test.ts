import * as assert from 'uvu/assert'
import { firstIdAt, type Id, idKey } from '../../../src/lib/ids.ts'
import { scanInChunks } from '../../../src/store/reading/chunked-scan.ts'
import { kyselyOver } from '../../../src/store/sqlite/kysely.ts'
import { newId } from '../../kit/new-id.ts'
import { openSqliteStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/chunked-scan')
const START = Date.UTC(2026, 10, 1)
/** More than two chunks. */
const ENTRY_COUNT = 25_000
const PAGE = { limit: 2, offset: 0, cursor: null }
const BOUNDS = { upper: /"id" <=? \+?\?/g, lower: /"id" >=? \+?\?/g }

/** A list of entries, one a millisecond, and the SQL that reads it. */
async function scene(t: TestContext) {
  const { connection } = await t.using(openSqliteStore())
  const accountId = newId(START)
  const insert = connection.raw.prepare(
    `insert into inbound_subjects (account_id, id, domains, subject) values (?, ?, '', 'hello')`,
  )
  const ids = Array.from({ length: ENTRY_COUNT }, (_, i) => firstIdAt(START + i))
  connection.raw.transaction(() => {
    for (const id of ids) insert.run(accountId, id)
  })()
  const statements: string[] = []
  const db = kyselyOver({
    ...connection,
    prepare(sql) {
      statements.push(sql)
      return connection.prepare(sql)
    },
  })
  const entries = () => db.selectFrom('inboundSubjects').where('accountId', '=', accountId)
  const listing = {
    entries,
    matching: (those: ReturnType<typeof entries>) => those.where('subject', '=', 'hello'),
    key: 'id' as const,
  }
  return { ids, listing, statements }
}

function keysOf(ids: readonly Id[], places: readonly number[]) {
  return places.map(place => idKey(ids[place]!))
}

test('chunked scan: a range is scanned to both ends and no further', async t => {
  const { ids, listing } = await scene(t)
  const range = { oldest: ids[1]!, newest: ids[ENTRY_COUNT - 2]! }
  const found = await scanInChunks({ ...listing, range }, PAGE, false)
  assert.equal(found.keys.map(idKey), keysOf(ids, [ENTRY_COUNT - 2, ENTRY_COUNT - 3]))
  assert.equal([found.matched, found.hasMore], [ENTRY_COUNT - 2, true])
})

test('chunked scan: pages towards newer entries end at the newest of the range', async t => {
  const { ids, listing } = await scene(t)
  const range = { oldest: ids[1]!, newest: ids[12_000]! }
  const cursor = { id: ids[11_998]!, side: 'newer' as const }
  const found = await scanInChunks({ ...listing, range }, { ...PAGE, cursor }, true)
  assert.equal(found.keys.map(idKey), keysOf(ids, [12_000, 11_999]))
  assert.is(found.hasMore, false)
})

for (const [side, place, expected] of [
  ['older', ENTRY_COUNT - 1, [20_000, 19_999]],
  ['newer', 0, [10_001, 10_000]],
] as const)
  test(`chunked scan: towards ${side} entries, a cursor before the range begins at its edge`, async t => {
    const { ids, listing } = await scene(t)
    const range = { oldest: ids[10_000]!, newest: ids[20_000]! }
    const cursor = { id: ids[place]!, side }
    const found = await scanInChunks({ ...listing, range }, { ...PAGE, cursor }, true)
    assert.equal(found.keys.map(idKey), keysOf(ids, expected))
  })

test('chunked scan: each read has one bound on each side, since SQLite seeks by the first', async t => {
  const { ids, listing, statements } = await scene(t)
  const range = { oldest: ids[1]!, newest: ids[ENTRY_COUNT - 2]! }
  await scanInChunks({ ...listing, range }, PAGE, false)
  assert.ok(statements.length >= 6, statements.join('\n'))
  for (const statement of statements)
    for (const [side, bound] of Object.entries(BOUNDS))
      assert.is(statement.match(bound)?.length ?? 0, 1, `${side}: ${statement}`)
})

test.run()
