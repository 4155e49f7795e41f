import * as assert from 'uvu/assert'
import { isRefusal, type Refusal } from '../../../../src/pipeline/accept/refusal.ts'
import type { IdempotencyToken } from '../../../../src/pipeline/accept/submission.ts'
import { HOUR_MS, postOver } from '../../../kit/mail.ts'
import { openLocalStore, outputOf } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/scheduled')
const DAY_MS = 24 * HOUR_MS

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock } = post
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const later = (ms = HOUR_MS) => ({ scheduledAt: clock.now() + ms })
  return {
    ...store,
    ...post,
    accountId,
    later,
    schedule: (ms?: number, to = ['a@there.test']) => post.send(accountId, { ...later(ms), to }),
    reschedule: (id: Uint8Array, ms: number) =>
      store.run('rescheduleEmail', { accountId, id, scheduledAt: clock.now() + ms, now: clock.now() }),
    cancel: (id: Uint8Array) => store.run('cancelEmail', { accountId, id, now: clock.now() }),
    release: (limit = 100) => store.run('releaseScheduled', { now: clock.now(), limit }),
    email: () => store.rows('select status, scheduled_at, last_event_at, error from emails')[0],
    deliveries: () =>
      store.rows('select address, state, status, next_at, expires_at from deliveries order by ordinal'),
    events: () => store.rows('select type, recipient, data, created_at from events order by id'),
    totals: () =>
      store.rows("select kind, count from counters where kind like 'emails.%' and count <> 0 order by kind"),
  }
}

function refusedAs(result: unknown): Refusal['refused'] {
  if (!isRefusal(result)) throw new Error(`not refused: ${JSON.stringify(result)}`)
  return result.refused
}

test('scheduled email: it is stored with its time and an event, and is not queued', async t => {
  const { schedule, email, deliveries, events, totals, announced, claim, accountId, clock } = await open(t)
  await schedule(HOUR_MS)
  const at = clock.now() + HOUR_MS
  assert.equal(email(), { status: 'scheduled', scheduled_at: at, last_event_at: clock.now(), error: null })
  assert.equal(deliveries(), [
    { address: 'a@there.test', state: 3, status: 'queued', next_at: at, expires_at: at + 48 * HOUR_MS },
  ])
  assert.equal(events(), [
    {
      type: 'email.scheduled',
      recipient: null,
      data: JSON.stringify({ scheduled: { scheduled_at: new Date(at).toISOString() } }),
      created_at: clock.now(),
    },
  ])
  assert.equal(totals(), [{ kind: 'emails.scheduled', count: 1 }])
  assert.equal([announced('due'), announced('scheduled')], [[], [at]])
  clock.advance(2 * HOUR_MS)
  assert.equal(await claim(accountId), [])
})

test('scheduled email: a group announces only its earliest time', async t => {
  const { group, request, accountId, later, announced } = await open(t)
  const times = [3, 1, 2].map(hours => later(hours * HOUR_MS))
  await group(...(await Promise.all(times.map(time => request(accountId, time)))), await request(accountId))
  assert.equal(announced('scheduled'), [times[1]!.scheduledAt])
  assert.is(announced('due').length, 1)
})

test('scheduled email: the writer does not cache it for the claim', async t => {
  const { schedule, release, claim, send, accountId, clock } = await open(t)
  const soonMs = 10_000
  await schedule(soonMs)
  await send(accountId, { to: ['now@there.test'] })
  clock.advance(soonMs)
  await release()
  assert.equal(
    (await claim(accountId)).map(({ address, source }) => `${address} ${source !== undefined}`).sort(),
    ['a@there.test false', 'now@there.test true'],
  )
})

test('scheduled email: a time that is not in the next year is refused', async t => {
  const { submit, accountId, later, rows } = await open(t)
  for (const ms of [-DAY_MS, -1, 0, 365 * DAY_MS + 1, 1_000 * DAY_MS]) {
    const refused = await submit(accountId, later(ms))
    assert.is(refusedAs(refused), 'invalid_field')
    assert.equal((refused as Refusal).errors?.[0]?.path, 'scheduled_at')
  }
  assert.equal(rows('select * from emails'), [])
  for (const ms of [1, 365 * DAY_MS]) assert.not(isRefusal(await submit(accountId, later(ms))))
})

test('scheduled email: a repeated request after the time gets the first answer', async t => {
  const { submit, accountId, later, release, clock, rows } = await open(t)
  const token: IdempotencyToken = { endpoint: '/emails', key: 'k', bodyHash: new Uint8Array(32) }
  const submission = later(HOUR_MS)
  const first = await submit(accountId, submission, token)
  clock.advance(HOUR_MS - 1)
  assert.equal(await submit(accountId, submission, token), first)
  clock.advance(2)
  await release()
  assert.equal(await submit(accountId, submission, token), first)
  assert.is(rows('select * from emails').length, 1)
})

test('scheduled email: suppressions are checked at its time', async t => {
  const { schedule, suppress, accountId, release, claim, email, deliveries, clock } = await open(t)
  suppress(accountId, 'a@there.test')
  await schedule(HOUR_MS, ['a@there.test', 'b@there.test'])
  suppress(accountId, 'b@there.test')
  assert.is(email()!.status, 'scheduled')
  clock.advance(HOUR_MS)
  await release()
  assert.equal(await claim(accountId), [])
  assert.is(email()!.status, 'suppressed')
  assert.equal(
    deliveries().map(({ state, status }) => [state, status]),
    [
      [2, 'suppressed'],
      [2, 'suppressed'],
    ],
  )
})

test('reschedule: the email and its deliveries get the new time, and an event is recorded', async t => {
  const { schedule, reschedule, email, deliveries, events, announced, clock } = await open(t)
  const id = await schedule(HOUR_MS)
  clock.advance(1_000)
  assert.is(await reschedule(id, 5 * HOUR_MS), true)
  const at = clock.now() + 5 * HOUR_MS
  assert.equal(email(), { status: 'scheduled', scheduled_at: at, last_event_at: clock.now(), error: null })
  assert.equal(deliveries(), [
    { address: 'a@there.test', state: 3, status: 'queued', next_at: at, expires_at: at + 48 * HOUR_MS },
  ])
  assert.equal(
    events().map(({ type, data }) => [type, JSON.parse(String(data))]),
    [at - 4 * HOUR_MS - 1_000, at].map(time => [
      'email.scheduled',
      { scheduled: { scheduled_at: new Date(time).toISOString() } },
    ]),
  )
  assert.is(announced('scheduled').at(-1), at)
})

test('reschedule: an earlier time is accepted, a past one refused', async t => {
  const { schedule, reschedule, email, clock } = await open(t)
  const id = await schedule(HOUR_MS)
  assert.is(await reschedule(id, 1_000), true)
  for (const ms of [0, -1, 366 * DAY_MS]) assert.is(refusedAs(await reschedule(id, ms)), 'invalid_field')
  assert.is(email()!.scheduled_at, clock.now() + 1_000)
})

test('cancel: all deliveries end and one event is recorded', async t => {
  const { schedule, cancel, release, claim, email, deliveries, events, totals, accountId, clock } =
    await open(t)
  const id = await schedule(HOUR_MS, ['a@there.test', 'b@there.test'])
  clock.advance(1_000)
  assert.is(await cancel(id), true)
  assert.equal([email()!.status, email()!.last_event_at], ['canceled', clock.now()])
  assert.equal(
    deliveries().map(({ state, status }) => [state, status]),
    [
      [2, 'canceled'],
      [2, 'canceled'],
    ],
  )
  assert.equal(
    events().map(({ type, recipient }) => [type, recipient]),
    [
      ['email.scheduled', null],
      ['email.canceled', null],
    ],
  )
  assert.equal(totals(), [{ kind: 'emails.canceled', count: 1 }])
  assert.is(refusedAs(await cancel(id)), 'not_scheduled')
  clock.advance(HOUR_MS)
  assert.is(await release(), null)
  assert.equal(await claim(accountId), [])
  assert.is(events().length, 2)
})

for (const [status, bring] of [
  ['queued', async () => {}],
  ['suppressed', async ({ suppress, accountId }) => suppress(accountId, 'rcpt@there.test')],
] as [string, (opened: Awaited<ReturnType<typeof open>>) => Promise<void>][])
  test(`scheduled email: an email that is ${status} can be neither rescheduled nor canceled`, async t => {
    const opened = await open(t)
    await bring(opened)
    const id = await opened.send(opened.accountId)
    for (const result of [await opened.reschedule(id, HOUR_MS), await opened.cancel(id)]) {
      assert.is(refusedAs(result), 'not_scheduled')
      assert.match((result as Refusal).message, `this one is ${status}`)
    }
    assert.is(opened.email()!.status, status)
  })

test('scheduled email: emails of other accounts and unknown ids are not found', async t => {
  const { schedule, account, run, email, clock } = await open(t)
  const id = await schedule()
  const other = { accountId: account('Other'), now: clock.now() }
  for (const ref of [
    { ...other, id },
    { ...other, id: new Uint8Array(16) },
  ]) {
    assert.is(await run('cancelEmail', ref), undefined)
    assert.is(await run('rescheduleEmail', { ...ref, scheduledAt: clock.now() + 1 }), undefined)
  }
  assert.is(email()!.status, 'scheduled')
})

test('scheduled email: of cancel and release in one group only the first takes effect', async t => {
  for (const cancelFirst of [true, false]) {
    const { schedule, group, claim, accountId, email, clock } = await open(t)
    const id = await schedule(HOUR_MS)
    clock.advance(HOUR_MS)
    const cancel = { name: 'cancelEmail', input: { accountId, id, now: clock.now() } }
    const release = { name: 'releaseScheduled', input: { now: clock.now(), limit: 10 } }
    const { replies } = await group(...(cancelFirst ? [cancel, release] : [release, cancel]))
    const canceled = outputOf(replies[cancelFirst ? 0 : 1]!) === true
    assert.is(canceled, cancelFirst)
    assert.is((await claim(accountId)).length, canceled ? 0 : 1)
    assert.is(email()!.status, canceled ? 'canceled' : 'queued')
  }
})

test.run()
