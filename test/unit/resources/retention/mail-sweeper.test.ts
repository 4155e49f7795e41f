import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createPlans, type Plan } from '../../../../src/resources/accounts/plans.ts'
import { sweepEmails } from '../../../../src/resources/retention/mail-sweeper.ts'
import { createBlobFiles } from '../../../../src/store/blobs/blobs.ts'
import { insertRows } from '../../../kit/database.ts'
import { finishFor, HOUR_MS, postOver } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { openSqliteStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('retention/mail-sweeper')
const DAY_MS = 24 * HOUR_MS
const limits = { daily: null, monthly: null }
const PLANS: Record<string, Plan> = {
  week: { retentionDays: 7, ...limits },
  month: { retentionDays: 30, ...limits },
  keeps: { retentionDays: null, ...limits },
}

async function open(t: TestContext) {
  const clock = createManualClock()
  const local = await t.using(openSqliteStore())
  const blobs = createBlobFiles(join(local.file, '..', 'blobs'), clock.now)
  const store = { ...local, blobs }
  const post = postOver(store, { clock })
  const plans = createPlans({ ...post, plans: PLANS, find: store.find, onAccountChanged() {} })
  const account = (name: string, plan: string) => {
    const id = post.account(name)
    post.domain(id, 'here.test', { status: name === 'a' ? 'verified' : 'pending' })
    store.change('update accounts set plan = ? where id = ?', plan, id)
    return id
  }
  const parts = { ...store, ...post, plans }
  return {
    ...parts,
    account,
    /** Sends to the simulator, which needs no verified domain, and ends what was sent. */
    async delivered(accountId: Id, count = 1, over: Parameters<typeof post.send>[1] = {}) {
      for (let i = 0; i < count; i++)
        await post.send(accountId, { to: ['delivered@simulator.test'], subject: 's', ...over })
      for (const delivery of await post.claim(accountId, 'simulator.test', { limit: 1_000 }))
        await store.run('finish', finishFor(delivery, post.clock.now()))
    },
    async sweep() {
      for await (const _ of sweepEmails(parts));
    },
    /** Emails left, by account. */
    left: () =>
      Object.fromEntries(
        store
          .rows<{ name: string; count: number }>(
            `select name, count(e.id) as count from accounts a left join emails e on e.account_id = a.id
             group by name order by name`,
          )
          .map(({ name, count }) => [name, count]),
      ),
  }
}

test('mail sweeper: emails are kept for the plan’s retention, or for ever without one', async t => {
  const { account, delivered, clock, sweep, left } = await open(t)
  const plans = ['week', 'month', 'keeps', 'no longer configured']
  for (const [i, plan] of plans.entries()) await delivered(account('abcd'[i]!, plan), 2)
  clock.advance(7 * DAY_MS - 1)
  await sweep()
  assert.equal(left(), { a: 2, b: 2, c: 2, d: 2 })
  clock.advance(1)
  await sweep()
  assert.equal(left(), { a: 0, b: 2, c: 2, d: 2 })
  clock.advance(23 * DAY_MS)
  await sweep()
  assert.equal(left(), { a: 0, b: 0, c: 2, d: 2 })
  clock.advance(3_000 * DAY_MS)
  await sweep()
  assert.equal(left(), { a: 0, b: 0, c: 2, d: 2 })
})

test('mail sweeper: it deletes in steps until nothing is left', async t => {
  const { account, delivered, clock, left, ...parts } = await open(t)
  const accountId = account('a', 'week')
  await delivered(accountId, 300)
  clock.advance(7 * DAY_MS)
  const order: string[] = []
  const run: typeof parts.run = async (name, input) => {
    const output = await parts.run(name, input)
    order.push(name)
    return output
  }
  const accepting: Promise<unknown>[] = []
  for await (const _ of sweepEmails({ ...parts, clock, run })) {
    if (accepting.length > 0) continue
    const { name, input } = await parts.request(accountId, { to: ['delivered@simulator.test'] })
    accepting.push(run(name, input))
  }
  await Promise.all(accepting)
  assert.ok(order.length >= 4, order.join(' '))
  assert.equal(order.slice(0, 3), ['deleteBeyond', 'accept', 'deleteBeyond'])
  assert.equal(left(), { a: 1 })
})

test('mail sweeper: files of attachments are deleted after their rows', async t => {
  const { account, delivered, clock, sweep, rows, file } = await open(t)
  const content = Buffer.alloc(100_000, 'x')
  const attachment = { filename: 'x', contentType: 'text/plain', contentId: null, content }
  await delivered(account('a', 'week'), 1, { attachments: [attachment] })
  const [blob] = rows<{ hash: Buffer }>('select hash from blobs')
  const name = blob!.hash.toString('hex')
  const path = join(file, '..', 'blobs', name.slice(0, 2), name)
  assert.ok(existsSync(path))
  clock.advance(7 * DAY_MS)
  await sweep()
  assert.equal([rows('select * from blobs').length, existsSync(path)], [0, false])
})

test('mail sweeper: an account with nothing to delete causes no command', async t => {
  const { account, delivered, clock, ...parts } = await open(t)
  await delivered(account('a', 'week'))
  account('b', 'week')
  clock.advance(DAY_MS)
  const run = async () => assert.unreachable('nothing is to be deleted')
  for await (const _ of sweepEmails({ ...parts, clock, run: run as never }));
})

test('mail sweeper: accounts are read 100 at a time', async t => {
  const { account, delivered, clock, ...parts } = await open(t)
  const accounts = Array.from({ length: 250 }, (_, i) => ({
    id: Buffer.from(`account ${i}`.padEnd(16)),
    name: `n${i}`,
    plan: 'week',
    created_at: 0,
  }))
  insertRows(parts, 'accounts', accounts)
  await delivered(account('z', 'week'))
  clock.advance(7 * DAY_MS)
  let steps = 0
  for await (const _ of sweepEmails({ ...parts, clock })) steps++
  assert.is(steps, 4)
  assert.equal(parts.rows('select id from emails'), [])
})

test('mail sweeper: old emails are found by an index', async t => {
  const { rows } = await open(t)
  const plan = rows<{ detail: string }>(
    "explain query plan select id from emails where account_id = x'00' and ended_at <= 1 order by ended_at limit 16",
  )
  assert.is(plan.length, 1)
  assert.match(plan[0]!.detail, /emails_ended/)
})

test.run()
