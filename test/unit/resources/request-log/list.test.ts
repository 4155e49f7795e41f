import * as assert from 'uvu/assert'
import { type Id, idText, wireId } from '../../../../src/lib/ids.ts'
import type { LoggedRequest } from '../../../../src/resources/request-log/commands.ts'
import { findRequest, listRequests, type RequestFilter } from '../../../../src/resources/request-log/list.ts'
import { sweepRequests } from '../../../../src/resources/retention/sweepers.ts'
import { planOf } from '../../../kit/database.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { newId } from '../../../kit/new-id.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('request log: list')
const DAY_MS = 86_400_000
const START = Date.UTC(2026, 10, 1)
const accountId = newId(START)
const [mine, others] = [newId(START), newId(START)]
const store = await openLocalStore()
test.after(() => store.close())

interface Given extends Partial<LoggedRequest> {
  at: number
}

async function log(input: readonly Given[]): Promise<Id[]> {
  const requests = input.map(({ at, ...more }) => ({
    ...{ accountId, id: newId(at), credentialKind: 'key', credentialId: mine, method: 'POST' },
    ...{ path: '/emails', query: null, status: 200, errorName: null, userAgent: null, durationMs: 1 },
    resourceId: null,
    ...{ requestBody: undefined, responseBody: undefined, requestCut: false, responseCut: false },
    ...more,
  }))
  await store.run('logRequests', { requests })
  return requests.map(({ id }) => id)
}

const ALL: RequestFilter = {
  ...{ status: undefined, method: undefined, path: undefined, search: undefined },
  credentialId: undefined,
  ...{ createdFrom: undefined, createdBefore: undefined },
}
const PAGE = { limit: 100, offset: 0, cursor: null }

const [email, batched] = [newId(START + 900), newId(START + 2_001)]
const ids = await log([
  { at: START + 1_000, resourceId: wireId('eml', email) },
  {
    ...{ at: START + 2_000, path: '/emails/batch', status: 422, errorName: 'validation_error' },
    responseBody: JSON.stringify({ data: [{ id: wireId('eml', batched) }] }),
  },
  { at: START + 3_000, path: '/emails_x', credentialId: others, method: 'GET' },
  { at: START + 4_000, path: '/domains', status: 503, userAgent: 'curl/8' },
  { at: START + 5_000, accountId: others },
  { at: START + 6_000, path: `/emails/${idText(email)}/cancel` },
])
const numberOf = (id: Id) => ids.findIndex(other => idText(other) === idText(id))

/** Filters with the numbers of the requests that they find. */
const FILTERS: [what: string, filter: Partial<RequestFilter>, found: number[]][] = [
  ['no filter', {}, [5, 3, 2, 1, 0]],
  ['a status', { status: { from: 422, to: 422 } }, [1]],
  ['a class of failures', { status: { from: 400, to: 499 } }, [1]],
  ['a class of successes', { status: { from: 200, to: 299 } }, [5, 2, 0]],
  ['a method', { method: 'GET' }, [2]],
  ['a path', { path: { text: '/emails', isPrefix: false } }, [0]],
  ['the beginning of a path', { path: { text: '/emails/', isPrefix: true } }, [5, 1]],
  ['a beginning with a wildcard of SQL', { path: { text: '/emails_', isPrefix: true } }, [2]],
  ['the id of an email', { search: { id: email } }, [5, 0]],
  ['the id of an email of a batch', { search: { id: batched } }, [1]],
  ['a failed request by an id', { search: { id: batched }, status: { from: 400, to: 599 } }, [1]],
  ['a part of a path', { search: { path: 'S/Batch' } }, [1]],
  ['a part of a path with a wildcard of SQL', { search: { path: 's_x' } }, [2]],
  ['a credential', { credentialId: others }, [2]],
  ['a beginning', { createdFrom: START + 3_000 }, [5, 3, 2]],
  ['an end', { createdBefore: START + 3_000 }, [1, 0]],
]

for (const [what, filter, found] of FILTERS)
  test(`${what} finds its requests`, async () => {
    const query = { accountId, horizon: 0, filter: { ...ALL, ...filter }, page: PAGE }
    const { rows, hasMore } = await listRequests(store.db, query)
    assert.equal([rows.map(({ id }) => numberOf(id)), hasMore], [found, false])
  })

test('a request is found by its own id', async () => {
  const query = { accountId, horizon: 0, filter: { ...ALL, search: { id: ids[2]! } }, page: PAGE }
  const { rows } = await listRequests(store.db, query)
  assert.equal(
    rows.map(({ id }) => numberOf(id)),
    [2],
  )
})

test('pages follow each other in both directions', async () => {
  const page = async (cursor: { id: Id; side: 'older' | 'newer' } | null) => {
    const query = { accountId, horizon: 0, filter: ALL, page: { limit: 2, offset: 0, cursor } }
    const { rows, hasMore } = await listRequests(store.db, query)
    return [rows.map(({ id }) => numberOf(id)), hasMore]
  }
  assert.equal(await page(null), [[5, 3], true])
  assert.equal(await page({ id: ids[2]!, side: 'older' }), [[1, 0], false])
  assert.equal(await page({ id: ids[0]!, side: 'newer' }), [[2, 1], true])
})

test('failed requests are found by their index', () => {
  const failed = '(select account_id, failed_id as id, path from logged_requests) as logged_requests'
  const plan = planOf(
    store,
    `select id from ${failed} where account_id = ? and id >= ? order by id desc limit 1`,
    ...[mine, mine],
  )
  assert.match(plan, /logged_requests_failed/)
})

test('a request is found with its bodies, without secrets, and by its account only', async () => {
  const [id] = await log([
    {
      ...{ at: START + 7_000, responseBody: '{"token":"re_x"}', responseCut: false },
      ...{ requestBody: Buffer.from('{"name":"é'), requestCut: true },
    },
  ])
  const found = await findRequest(store.db, accountId, id!, 0)
  assert.equal(found!.bodies, {
    ...{ request: { name: 'é…' }, response: { token: '[redacted]' } },
    ...{ requestCut: true, responseCut: false },
  })
  assert.is(await findRequest(store.db, others, id!, 0), undefined)
  assert.is(await findRequest(store.db, accountId, id!, START + 7_000), undefined)
  assert.is((await findRequest(store.db, accountId, ids[0]!, 0))!.bodies, undefined)
})

test('requests are deleted with their bodies after the retention of the log or of the plan', async () => {
  const account = newId(START)
  const now = START + 40 * DAY_MS
  const at = (days: number) => now - days * DAY_MS
  await store.run('createAccount', {
    account: { id: account, name: 'a', plan: 'short', createdAt: START, suspendedAt: null },
    owner: {
      ...{ id: newId(START), accountId: account, email: 'log@here.example', passwordHash: '' },
      ...{ operator: 0, createdAt: START },
    },
  })
  const requestBody = Buffer.from('{}')
  const [, young] = await log([20, 6].map(days => ({ at: at(days), accountId: account, requestBody })))
  const clock = createManualClock(now)
  const sweep = async (planDays: number | null, retentionDays: number) => {
    const plan = { retentionDays: planDays, daily: null, monthly: null }
    const options = { ...store, plans: { named: () => plan }, clock, retentionDays }
    for await (const _ of sweepRequests(options));
    const of = (table: string) =>
      store.rows<{ n: number }>(`select count(*) as n from ${table} where account_id = ?`, account)[0]!.n
    return [of('logged_requests'), of('logged_bodies')].map(Number)
  }
  assert.equal(await sweep(null, 30), [2, 2])
  assert.equal(await sweep(7, 30), [1, 1])
  assert.ok(await findRequest(store.db, account, young!, 0))
  assert.equal(await sweep(7, 5), [0, 0])
})

test.run()
