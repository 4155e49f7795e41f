import * as assert from 'uvu/assert'
import { utcDay, utcMonth } from '../../../../src/lib/periods.ts'
import { takeRoom } from '../../../../src/pipeline/accept/quota.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import type { Quota } from '../../../../src/resources/accounts/plans.ts'
import type { Tx } from '../../../../src/store/model/command.ts'
import { postOver } from '../../../kit/mail.ts'
import { openLocalStore, outputOf } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/quota')
const DAY_MS = 86_400_000

async function open(t: TestContext, quota: Quota | null) {
  const store = await t.using(openLocalStore())
  const post = postOver(store, { quotaOf: async () => quota })
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const to = (count: number) => ({ to: Array.from({ length: count }, (_, i) => `r${i}@there.test`) })
  /** `taken`, or why not. */
  const submit = async (count: number, over = {}) => {
    const answer = await post.submit(accountId, { ...to(count), ...over })
    return isRefusal(answer) ? answer.refused : 'taken'
  }
  const used = (period: (at: number) => string, at = post.clock.now()) =>
    store.rows<{ count: number }>(
      "select count from counters where kind = 'recipients' and period = ?",
      period(at),
    )[0]?.count ?? 0
  const stored = () => store.rows('select id from emails').length
  return { ...store, ...post, accountId, to, submit, used, stored }
}

test('quota: the last recipient is accepted and the next one refused', async t => {
  const { submit, used, stored } = await open(t, { daily: 5, monthly: null })
  assert.equal([await submit(3), await submit(2), await submit(1)], ['taken', 'taken', 'daily_quota'])
  assert.equal([used(utcDay), used(utcMonth), stored()], [5, 5, 2])
})

test('quota: an email that exceeds it is refused as a whole, a smaller one is accepted', async t => {
  const { submit, used } = await open(t, { daily: 5, monthly: null })
  assert.equal([await submit(4), await submit(2), await submit(1)], ['taken', 'daily_quota', 'taken'])
  assert.is(used(utcDay), 5)
})

test('quota: a day begins at midnight UTC, a month on its first day', async t => {
  const { submit, clock } = await open(t, { daily: 2, monthly: 3 })
  clock.jump(Date.UTC(2026, 10, 29, 23, 59, 59, 999) - clock.now())
  assert.equal([await submit(2), await submit(1)], ['taken', 'daily_quota'])
  clock.advance(1)
  assert.equal([await submit(1), await submit(1)], ['taken', 'monthly_quota'])
  clock.advance(DAY_MS)
  assert.equal([await submit(2), await submit(1)], ['taken', 'daily_quota'])
})

test('quota: the monthly quota is reported if both are used up', async t => {
  const { submit } = await open(t, { daily: 1, monthly: 1 })
  assert.equal([await submit(1), await submit(1)], ['taken', 'monthly_quota'])
})

test('quota: a quota of 0 accepts nothing', async t => {
  const { submit } = await open(t, { daily: 0, monthly: null })
  assert.is(await submit(1), 'daily_quota')
})

test('quota: a group accepts requests up to the last recipient of the quota', async t => {
  const { group, request, accountId, used, stored } = await open(t, { daily: 7, monthly: 100 })
  const requests = []
  for (let i = 0; i < 20; i++) requests.push(await request(accountId))
  const outputs = (await group(...requests)).replies.map(outputOf)
  assert.equal(
    outputs.map(isRefusal),
    Array.from({ length: 20 }, (_, i) => i >= 7),
  )
  assert.equal([used(utcDay), used(utcMonth), stored()], [7, 7, 7])
})

test('quota: a batch is accepted as a whole or not at all', async t => {
  const { run, request, accountId, to, used } = await open(t, { daily: 5, monthly: null })
  const [one, two] = [await request(accountId, to(3)), await request(accountId, to(3))]
  const both = { ...one.input, emails: [...one.input.emails, ...two.input.emails] }
  const answer = await run('accept', both)
  assert.is(isRefusal(answer) && answer.refused, 'daily_quota')
  assert.is(used(utcDay), 0)
  assert.not(isRefusal(await run('accept', one.input)))
})

test('quota: an email refused for another reason does not count', async t => {
  const { submit, used } = await open(t, { daily: 2, monthly: null })
  assert.is(await submit(2, { from: 'x@elsewhere.test' }), 'domain_not_verified')
  assert.is(used(utcDay), 0)
  assert.is(await submit(2), 'taken')
})

test('quota: a repeated request gets its first answer and counts once', async t => {
  const post = await open(t, { daily: 2, monthly: null })
  const idempotency = { endpoint: '/emails', key: 'k', bodyHash: new Uint8Array(32) }
  const first = await post.request(post.accountId, post.to(2), idempotency)
  const answer = await post.run('accept', first.input)
  assert.equal(await post.run('accept', first.input), answer)
  assert.is(post.used(utcDay), 2)
})

test('quota: a duplicate address counts once; suppressed and simulated recipients count', async t => {
  const { submit, suppress, accountId, used } = await open(t, { daily: 10, monthly: null })
  suppress(accountId, 'a@there.test')
  await submit(0, { to: ['a@there.test', 'A@there.test'], cc: ['b@there.test'] })
  await submit(0, { to: ['delivered@simulator.test'] })
  assert.is(used(utcDay), 3)
})

test('quota: each account has its own quota', async t => {
  const { submit, send, account, domain } = await open(t, { daily: 1, monthly: null })
  const other = account('Other')
  domain(other, 'other.test')
  assert.is(await submit(1), 'taken')
  await send(other, { from: 'x@other.test' })
  assert.is(await submit(1), 'daily_quota')
})

for (const [period, quota, message] of [
  [
    'day',
    { daily: 1, monthly: null },
    /^The daily quota of 1 recipients is exceeded\. .* next day \(UTC\)\.$/,
  ],
  [
    'month',
    { daily: 5, monthly: 1 },
    /^The monthly quota of 1 recipients is exceeded\. .* next month \(UTC\)\.$/,
  ],
] as const)
  test(`quota: a refusal says that the ${period} is used up, and until when`, async t => {
    const { accountId, to, run, request } = await open(t, quota)
    const { input } = await request(accountId, to(2))
    const refusal = await run('accept', input)
    assert.match(isRefusal(refusal) ? refusal.message : '', message)
  })

for (const [quota, used, wanted, expected] of [
  [null, { day: 9, month: 9 }, 5, 5],
  [{ daily: null, monthly: null }, { day: 9, month: 9 }, 5, 5],
  [{ daily: 10, monthly: null }, { day: 4, month: 99 }, 6, 6],
  [{ daily: 10, monthly: null }, { day: 4, month: 99 }, 7, 6],
  [{ daily: null, monthly: 10 }, { day: 99, month: 8 }, 5, 2],
  [{ daily: 3, monthly: 10 }, { day: 1, month: 9 }, 5, 1],
  [{ daily: 3, monthly: 10 }, { day: 2, month: 2 }, 5, 1],
  [{ daily: 3, monthly: 10 }, { day: 4, month: 4 }, 5, 0],
] as const)
  test(`quota: of ${JSON.stringify(quota)} with ${JSON.stringify(used)} used, ${expected} of ${wanted} are taken`, async () => {
    const now = Date.UTC(2026, 10, 21)
    const counts: [string, number][] = []
    const tx = {
      counted: async (_: unknown, kind: string, period: string) =>
        kind === 'recipients' && period === utcDay(now) ? used.day : used.month,
      count: (_: unknown, __: string, period: string, count: number) => void counts.push([period, count]),
    } as unknown as Tx
    const accountId = new Uint8Array(16)
    assert.is(await takeRoom(tx, { sender: { accountId }, now, quota }, wanted), expected)
    assert.equal(counts, [
      [utcDay(now), expected],
      [utcMonth(now), expected],
    ])
  })

test.run()
