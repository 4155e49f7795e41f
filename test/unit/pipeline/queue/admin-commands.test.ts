import * as assert from 'uvu/assert'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import type { Mark } from '../../../../src/pipeline/queue/waiting-mail.ts'
import type { MailSelector } from '../../../../src/store/model/schema/steering.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { planOf } from '../../../kit/database.ts'
import { endings, finishFor, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/admin-commands')

const ALL_MAIL: MailSelector = { domain: null, accountId: null, broadcastId: null, emailId: null }

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const admin = createQueueAdmin({ db: store.db, run: store.run, clock: post.clock, newId })
  /** Deferred once, with an hour to wait. */
  const deferred = async (domain = 'there.test') => {
    const at = post.clock.now()
    for (const delivery of await post.claim(accountId, domain))
      await store.run('finish', finishFor(delivery, at, { ...endings.deferred(at, 3_600_000), signedAt: at }))
  }
  return {
    ...store,
    ...post,
    admin,
    accountId,
    deferred,
    send: (...to: string[]) => post.send(accountId, { to }),
    claimed: async (domain?: string, deliveryClass: number = DELIVERY_CLASS.transactional) =>
      (await post.claim(accountId, domain, { class: deliveryClass })).map(({ address }) => address),
    emails: () =>
      store.rows(
        'select status, error, case when ended_at is null then 0 else 1 end as ended from emails order by id',
      ),
    statuses: () =>
      Object.fromEntries(
        store
          .rows<{ address: string; status: string }>('select address, status from deliveries')
          .map(({ address, status }) => [address, status]),
      ),
    events: () => store.rows('select type, recipient from events order by id'),
    totals: () =>
      Object.fromEntries(
        store
          .rows<{ kind: string; count: number }>(
            "select kind, count from counters where kind like 'emails.%' and count <> 0",
          )
          .map(({ kind, count }) => [kind, count]),
      ),
  }
}

test('cancel: waiting mail is canceled with an event, and the counters agree', async t => {
  const { admin, send, emails, events, totals, claimed } = await open(t)
  await send('a@there.test')
  await send('b@far.test')
  assert.equal(await admin.cancel({ ...ALL_MAIL, domain: 'there.test' }), { deliveries: 1, hasMore: false })
  assert.equal(emails(), [
    { status: 'canceled', error: null, ended: 1 },
    { status: 'queued', error: null, ended: 0 },
  ])
  assert.equal(events(), [{ type: 'email.canceled', recipient: 'a@there.test' }])
  assert.equal(totals(), { 'emails.canceled': 1, 'emails.queued': 1 })
  assert.equal([await claimed(), await claimed('far.test')], [[], ['b@far.test']])
})

test('cancel: mail whose attempt was interrupted by a kill fails, because it may have arrived', async t => {
  const { admin, send, claim, run, clock, accountId, emails, events } = await open(t)
  await send('a@there.test')
  await claim(accountId)
  await run('reclaimLeases', { owner: null, now: clock.now(), leaseMs: 60_000 })
  await admin.cancel({ ...ALL_MAIL, accountId })
  const error = 'canceled by the operator; it may have arrived'
  assert.equal(emails(), [{ status: 'failed', error, ended: 1 }])
  assert.equal(events(), [{ type: 'email.failed', recipient: 'a@there.test' }])
})

test('cancel: an attempt in progress is not touched', async t => {
  const { admin, send, claim, run, clock, accountId, emails } = await open(t)
  await send('a@there.test')
  const [delivery] = await claim(accountId)
  assert.equal(await admin.cancel({ ...ALL_MAIL, accountId }), { deliveries: 0, hasMore: false })
  assert.is(await run('finish', finishFor(delivery!, clock.now())), true)
  assert.equal(emails(), [{ status: 'delivered', error: null, ended: 1 }])
})

test('cancel: mail that was deferred after a handover fails', async t => {
  const { admin, send, deferred, accountId, emails, events } = await open(t)
  await send('a@there.test')
  await deferred()
  assert.equal(await admin.cancel({ ...ALL_MAIL, accountId }), { deliveries: 1, hasMore: false })
  assert.equal(emails(), [{ status: 'failed', error: 'canceled by the operator', ended: 1 }])
  assert.equal(events().at(-1), { type: 'email.failed', recipient: 'a@there.test' })
})

test('cancel: the status of a partly canceled email follows its other recipients', async t => {
  const { admin, send, statuses, claim, run, clock, accountId, emails } = await open(t)
  await send('a@there.test', 'b@far.test')
  await admin.cancel({ ...ALL_MAIL, domain: 'far.test' })
  assert.equal(emails(), [{ status: 'queued', error: null, ended: 0 }])
  const [delivery] = await claim(accountId)
  await run('finish', finishFor(delivery!, clock.now()))
  assert.equal(statuses(), { 'a@there.test': 'delivered', 'b@far.test': 'canceled' })
  assert.equal(emails(), [{ status: 'delivered', error: null, ended: 1 }])
})

test('cancel: held mail is canceled by email and by broadcast', async t => {
  const { admin, send, claimed, change, clock, statuses } = await open(t)
  const first = await send('a@there.test')
  const second = await send('b@there.test')
  await send('c@there.test')
  const broadcastId = newId(clock.now())
  change('update emails set broadcast_id = ? where id = ?', broadcastId, second)
  await admin.hold({ ...ALL_MAIL, emailId: first }, null)
  await admin.hold({ ...ALL_MAIL, broadcastId }, null)
  assert.equal(await claimed(), ['c@there.test'])
  assert.is((await admin.cancel({ ...ALL_MAIL, emailId: first })).deliveries, 1)
  assert.is((await admin.cancel({ ...ALL_MAIL, broadcastId })).deliveries, 1)
  assert.equal(statuses(), {
    'a@there.test': 'canceled',
    'b@there.test': 'canceled',
    'c@there.test': 'queued',
  })
})

test('cancel: all parts of the selector must match; another account is not touched', async t => {
  const { admin, send, account, domain, submit, accountId, statuses } = await open(t)
  const other = account('Other')
  domain(other, 'other.test')
  await send('a@there.test')
  const theirs = await submit(other, { from: 'x@other.test', to: ['z@there.test'] })
  assert.is((await admin.cancel({ ...ALL_MAIL, accountId, domain: 'far.test' })).deliveries, 0)
  assert.ok('ids' in theirs)
  assert.is((await admin.cancel({ ...ALL_MAIL, accountId, emailId: theirs.ids[0]! })).deliveries, 0)
  assert.is((await admin.cancel({ ...ALL_MAIL, accountId, domain: 'there.test' })).deliveries, 1)
  assert.equal(statuses(), { 'a@there.test': 'canceled', 'z@there.test': 'queued' })
})

test('cancel: scheduled mail is not queued yet and stays', async t => {
  const { admin, submit, accountId, clock, emails } = await open(t)
  await submit(accountId, { to: ['a@there.test'], scheduledAt: clock.now() + 3_600_000 })
  assert.is((await admin.cancel({ ...ALL_MAIL, accountId })).deliveries, 0)
  assert.equal(emails(), [{ status: 'scheduled', error: null, ended: 0 }])
})

test('retry: deferred mail is due now, by account and by email', async t => {
  const { admin, send, deferred, accountId, claimed } = await open(t)
  const first = await send('a@there.test')
  await send('b@there.test')
  await deferred()
  await send('fresh@there.test')
  assert.equal(await claimed('there.test', DELIVERY_CLASS.retry), [])
  assert.equal(await admin.retry({ ...ALL_MAIL, emailId: first }), { deliveries: 1, hasMore: false })
  assert.equal(await claimed('there.test', DELIVERY_CLASS.retry), ['a@there.test'])
  assert.equal(await admin.retry({ ...ALL_MAIL, accountId }), { deliveries: 1, hasMore: false })
  assert.equal(await claimed('there.test', DELIVERY_CLASS.retry), ['b@there.test'])
  assert.equal(await admin.retry({ ...ALL_MAIL, accountId }), { deliveries: 0, hasMore: false })
})

test('retry: mail that is due already, even since this moment, is not counted again', async t => {
  const { admin, send, deferred, accountId } = await open(t)
  await send('a@there.test')
  await deferred()
  const retry = () => admin.retry({ ...ALL_MAIL, accountId })
  assert.equal([(await retry()).deliveries, (await retry()).deliveries], [1, 0])
})

test('cancel: mail that takes several steps is canceled completely', async t => {
  const { admin, send, rows, clock } = await open(t)
  for (let email = 0; email < 9; email++) {
    await send(...Array.from({ length: 50 }, (_, i) => `r${i}@there.test`))
    if (email % 3 === 0) clock.advance(1)
  }
  assert.equal(await admin.cancel({ ...ALL_MAIL, domain: 'there.test' }), { deliveries: 450, hasMore: false })
  assert.equal(rows('select distinct status from deliveries'), [{ status: 'canceled' }])
})

test('waiting mail: a step continues by the index where the previous step ended', async t => {
  const { rows, accountId } = await open(t)
  const plan = planOf(
    { rows },
    `select email_id from deliveries where state = 0 and domain = ? and class = ? and account_id = ?
       and (next_at, email_id, ordinal) > (?, ?, ?) order by next_at, email_id, ordinal limit 200`,
    ...['there.test', 0, accountId, 1, accountId, 0],
  )
  assert.match(plan, /deliveries_due/)
  assert.not.match(plan, /temp b-tree/i)
})

/** Deferred mail for an hour from now; `how` says by local part how the attempt with the number ended. */
async function brokenOff(t: TestContext, how: Record<string, [number: number, brokeOff: 0 | 1 | null][]>) {
  const store = await open(t)
  await store.send(...Object.keys(how).map(name => `${name}@there.test`))
  await store.deferred()
  store.change('delete from attempts')
  store.change('update deliveries set attempts = 3')
  for (const [name, attempts] of Object.entries(how))
    for (const [number, brokeOff] of attempts)
      store.change(
        `insert into attempts (email_id, ordinal, number, started_at, outcome, broke_off)
           select email_id, ordinal, cast(? as integer), 0, 'deferred', cast(? as integer) from deliveries where address = ?`,
        number,
        brokeOff,
        `${name}@there.test`,
      )
  const now = store.clock.now()
  const queueKey = { domain: 'there.test', class: DELIVERY_CLASS.retry, accountId: store.accountId }
  return {
    ...store,
    now,
    queueKey,
    retry: (after: Mark | null = null, limit = 100) =>
      store.run('retryBrokenOff', { queueKey, after, limit, now }),
    due: () =>
      store
        .rows<{ address: string }>('select address from deliveries where next_at <= ? order by address', now)
        .map(({ address }) => address.split('@')[0]!),
  }
}

test('retry after an outage: only deliveries whose last attempt was broken off are due', async t => {
  const { retry, due, announced, queueKey, now } = await brokenOff(t, {
    refused: [[3, 1]],
    greylisted: [[3, null]],
    better: [
      [2, 1],
      [3, null],
    ],
    worse: [
      [2, null],
      [3, 1],
    ],
    unknown: [],
  })
  const before = announced('due').length
  assert.equal(await retry(), { count: 2, after: null })
  assert.equal(due(), ['refused', 'worse'])
  assert.equal(announced('due').slice(before), [
    { ...queueKey, accountId: Buffer.from(queueKey.accountId), at: now },
  ])
})

test('retry after an outage: steps skip no delivery and read none twice', async t => {
  const names = Array.from({ length: 7 }, (_, i) => `d${i}`)
  const { retry, due } = await brokenOff(
    t,
    Object.fromEntries(names.map((name, i) => [name, [[3, i === 6 ? 1 : null]]])),
  )
  const counts: number[] = []
  let after: Mark | null = null
  do {
    const step = await retry(after, 3)
    counts.push(step.count)
    after = step.after
  } while (after)
  assert.is(counts.length, 3)
  assert.is(
    counts.reduce((sum, count) => sum + count, 0),
    1,
  )
  assert.equal(due(), ['d6'])
})

test.run()
