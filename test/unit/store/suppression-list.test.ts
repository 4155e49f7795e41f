import * as assert from 'uvu/assert'
import { createIdSource, type Id, idText } from '../../../src/lib/ids.ts'
import { listSuppressions, type SuppressionPage } from '../../../src/resources/suppressions/list.ts'
import { SUPPRESSION_REASONS } from '../../../src/resources/suppressions/suppression-rows.ts'
import { containing } from '../../../src/store/model/pattern.ts'
import type { SuppressionReason } from '../../../src/store/model/schema.ts'
import { insertRows, isOnPostgres, planOf } from '../../kit/database.ts'
import { postOver } from '../../kit/mail.ts'
import { fc } from '../../kit/property.ts'
import { type LocalStore, openLocalStore, STORE_EPOCH } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/suppression-list')

interface Entry {
  id: Id
  email: string
  reason: SuppressionReason
}

/** More than two stretches of the walk, oldest first. */
const ENTRIES = 25_003
let store: LocalStore<never>
let accountId: Id
let entries: Entry[]

test.before(async () => {
  store = (await openLocalStore()) as unknown as LocalStore<never>
  const post = postOver(store as never)
  accountId = post.account()
  const [newId, other] = [createIdSource(), post.account('Other')]
  entries = Array.from({ length: ENTRIES }, (_, i) => ({
    id: newId(STORE_EPOCH + i),
    email: `${i % 1_000 === 0 ? 'rare' : 'user'}.${i}@${i % 2 ? 'odd' : 'even'}.example`,
    reason: SUPPRESSION_REASONS[i % 5 === 0 ? 2 : 0]!,
  }))
  insertRows(store, 'suppressions', [
    ...entries.map((entry, i) => ({ account_id: accountId, ...entry, created_at: STORE_EPOCH + i })),
    {
      account_id: other,
      id: newId(STORE_EPOCH),
      email: 'rare.0@even.example',
      reason: 'manual',
      created_at: STORE_EPOCH,
    },
  ])
  insertRows(
    store,
    'counters',
    SUPPRESSION_REASONS.map(reason => ({
      account_id: accountId,
      kind: `suppressions.${reason}`,
      period: '',
      count: entries.filter(entry => entry.reason === reason).length,
    })),
  )
})
test.after(() => store.close())

interface Query {
  reason?: SuppressionReason | null
  search?: string
  limit?: number
  offset?: number
  cursor?: SuppressionPage['cursor']
}

async function list({ reason = null, search = '', limit = 20, offset = 0, cursor = null }: Query = {}) {
  const found = await listSuppressions(store, accountId, { reason, search }, { limit, offset, cursor })
  return { ...found, rows: found.rows.map(({ email }) => email) }
}

/** The same, by going through all of them. */
function expected({ reason = null, search = '', limit = 20, offset = 0, cursor = null }: Query) {
  const all = entries.filter(
    entry => (reason === null || entry.reason === reason) && entry.email.includes(search),
  )
  const newestFirst = all.toReversed()
  const key = cursor && idText(cursor.id)
  const after = newestFirst.filter(({ id }) => !key || idText(id) < key).slice(offset)
  const before = newestFirst.filter(({ id }) => key && idText(id) > key)
  const rows = cursor?.side === 'newer' ? before.slice(-limit) : after.slice(0, limit)
  const left = cursor?.side === 'newer' ? before.length : after.length
  return { total: all.length, hasMore: left > limit, rows: rows.map(({ email }) => email) }
}

test('suppression list: any page, search and cursor equals a scan of all entries', async () => {
  const anyEntry = fc.integer({ min: 0, max: ENTRIES - 1 })
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        reason: fc.constantFrom(null, 'manual' as const, 'complaint' as const, 'bounce' as const),
        search: fc.constantFrom('', 'rare', '.1', 'odd', '.24999@', 'nowhere', 'user.7@odd.example'),
        limit: fc.integer({ min: 1, max: 100 }),
        offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: ENTRIES + 10 })),
        side: fc.constantFrom(null, 'older' as const, 'newer' as const),
        at: anyEntry,
      }),
      async ({ side, at, offset, ...query }) => {
        const cursor = side === null ? null : { id: entries[at]!.id, side }
        const requests = { ...query, cursor, offset: cursor ? 0 : offset }
        assert.equal(await list(requests), expected(requests))
      },
    ),
    { seed: 20261121, numRuns: isOnPostgres ? 40 : 150 },
  )
})

test('suppression list: cursors visit every entry once, in both directions', async () => {
  const idOf = new Map(entries.map(({ email, id }) => [email, id]))
  const through = async (side: 'older' | 'newer', start: string) => {
    const seen: string[] = []
    for (let last = start; ; ) {
      const { rows, hasMore } = await list({
        limit: 100,
        search: 'rare',
        cursor: { id: idOf.get(last)!, side },
      })
      seen.push(...rows)
      if (!hasMore) return seen
      last = side === 'older' ? rows.at(-1)! : rows[0]!
    }
  }
  const rare = expected({ search: 'rare', limit: ENTRIES }).rows
  assert.equal(await through('older', rare[0]!), rare.slice(1))
  assert.equal((await through('newer', rare.at(-1)!)).toSorted(), rare.slice(0, -1).toSorted())
})

test('suppression list: a search never blocks the thread for the whole list', async () => {
  let turns = 0
  let ended = false
  const count = () => {
    turns++
    if (!ended) setImmediate(count)
  }
  setImmediate(count)
  await list({ search: 'nowhere' })
  ended = true
  assert.ok(turns >= 2, `${turns}`)
})

test('suppression list: every query uses a covering index', () => {
  const where = `account_id = ? and id < ? and id >= ? and email like ? escape '!'`
  const [a, b] = [entries[9]!.id, entries[1]!.id]
  const covering =
    /^SEARCH \w+ USING COVERING INDEX suppressions_listed \(account_id=\? AND id>\? AND id<\?\)$|Index Only Scan \w* ?using suppressions_listed .*Index Cond: \(\(account_id = .* AND \(id < .* AND \(id >= /
  for (const sql of [
    `select count(*) from suppressions where ${where}`,
    `select email from suppressions where ${where} order by id desc limit 20`,
    `select email from suppressions where ${where} and reason = 'manual' order by id desc limit 20`,
  ]) {
    assert.match(planOf(store, sql, accountId, a, b, containing('x')), covering)
  }
})

test('suppression list: every character of a search text is literal', () => {
  assert.is(containing('50%_off!'), '%50!%!_off!!%')
})

test.run()
