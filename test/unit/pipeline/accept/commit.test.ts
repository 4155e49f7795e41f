import * as assert from 'uvu/assert'
import { utcDay, utcMonth } from '../../../../src/lib/periods.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import { postOver } from '../../../kit/mail.ts'
import { openLocalStore, outputOf, refusalOf } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/commit')
const TABLES = ['emails', 'deliveries', 'contents', 'blobs', 'events', 'idempotency_keys', 'counters']

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const counts = () =>
    Object.fromEntries(
      store
        .rows<{ kind: string; period: string; count: number }>(
          `select kind, period, count from counters
           where kind not like 'suppressions.%' and kind not like 'metrics.%' and count <> 0 order by kind, period`,
        )
        .map(({ kind, period, count }) => [`${kind} ${period}`.trim(), count]),
    )
  const everything = () => TABLES.map(table => store.rows(`select * from ${table}`))
  return { ...store, ...post, accountId, counts, everything }
}

test('accept command: a suppressed recipient is done at once, has an event and is not queued', async t => {
  const { send, suppress, accountId, rows, announced, clock, claim } = await open(t)
  suppress(accountId, 'b@far.test')
  await send(accountId, { to: ['a@there.test', 'B@far.test'] })
  assert.equal(rows('select address, state, status from deliveries order by ordinal'), [
    { address: 'a@there.test', state: 0, status: 'queued' },
    { address: 'B@far.test', state: 2, status: 'suppressed' },
  ])
  assert.equal(rows('select type, recipient, created_at from events'), [
    { type: 'email.suppressed', recipient: 'B@far.test', created_at: clock.now() },
  ])
  assert.equal(rows('select status, error, last_event_at from emails'), [
    { status: 'queued', error: null, last_event_at: clock.now() },
  ])
  assert.equal(
    announced('due').map(queueKey => (queueKey as { domain: string }).domain),
    ['there.test'],
  )
  assert.equal(await claim(accountId, 'far.test'), [])
})

test('accept command: an email is suppressed if all its recipients are', async t => {
  const { send, suppress, accountId, rows, announced, counts, clock } = await open(t)
  for (const name of ['a', 'b']) suppress(accountId, `${name}@there.test`)
  await send(accountId, { to: ['a@there.test', 'b@there.test'] })
  assert.equal(rows('select status, error, ended_at from emails'), [
    {
      status: 'suppressed',
      error: 'All recipients are on the suppression list.',
      ended_at: clock.now(),
    },
  ])
  assert.is(rows('select * from events').length, 2)
  assert.equal(announced('due'), [])
  assert.equal(counts(), {
    'emails.suppressed': 1,
    events: 2,
    [`recipients ${utcMonth(clock.now())}`]: 2,
    [`recipients ${utcDay(clock.now())}`]: 2,
  })
  assert.equal(rows("select count from counters where kind = 'metrics.suppressed'"), [{ count: 2 }])
})

test('accept command: suppressions of another account do not apply', async t => {
  const { send, suppress, account, accountId, rows } = await open(t)
  suppress(account('Other'), 'rcpt@there.test')
  await send(accountId)
  assert.equal(rows('select status from deliveries'), [{ status: 'queued' }])
})

test('accept command: emails and recipients are counted by account, day and month', async t => {
  const { send, submit, accountId, counts, clock } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@there.test'], cc: ['a@there.test'] })
  await send(accountId)
  await submit(accountId, { from: 'x@elsewhere.test' })
  const before = clock.now()
  clock.advance(86_400_000)
  await send(accountId, { to: ['delivered@simulator.test'] })
  assert.equal(counts(), {
    'emails.queued': 3,
    [`recipients ${utcMonth(before)}`]: 4,
    [`recipients ${utcDay(before)}`]: 3,
    [`recipients ${utcDay(clock.now())}`]: 1,
  })
})

test('accept command: requests of a group are stored together, each with its content', async t => {
  const { group, request, accountId, rows, counts } = await open(t)
  const requests = []
  for (let i = 0; i < 50; i++)
    requests.push(await request(accountId, { subject: `email ${i}`, text: `text ${i}` }))
  const { replies } = await group(...requests)
  assert.ok(replies.every(reply => !isRefusal(outputOf(reply))))
  const stored = rows<{ subject: string; body: Buffer; refs: number }>(
    'select subject, body, refs from emails join contents c on c.id = content_id order by emails.id',
  )
  assert.equal(
    stored.map(({ subject, body, refs }) => [subject, JSON.parse(String(body)).text, refs]),
    Array.from({ length: 50 }, (_, i) => [`email ${i}`, `text ${i}`, 1]),
  )
  assert.is(counts()['emails.queued'], 50)
})

test('accept command: results of a group are in the order of its requests', async t => {
  const { group, request, accountId, rows } = await open(t)
  const requests = []
  for (const from of ['x@here.test', 'x@elsewhere.test', 'y@here.test'])
    requests.push(await request(accountId, { from }))
  const outputs = (await group(...requests)).replies.map(outputOf)
  assert.equal(outputs.map(isRefusal), [false, true, false])
  assert.is(rows('select * from emails').length, 2)
})

test('accept command: a strict batch is stored as a whole or not at all', async t => {
  const { run, request, accountId, everything } = await open(t)
  const before = everything()
  const good = await request(accountId)
  const bad = await request(accountId, { from: 'x@elsewhere.test' })
  const batch = { ...good.input, emails: [...good.input.emails, ...bad.input.emails] }
  const result = await run('accept', batch)
  assert.is(isRefusal(result) && result.refused, 'domain_not_verified')
  assert.equal(everything(), before)
})

test('accept command: a failed statement rolls the whole request back', async t => {
  const { group, request, accountId, everything, announced } = await open(t)
  const broken = await request(
    accountId,
    {
      attachments: [{ filename: 'a', contentType: 'text/plain', contentId: null, content: Buffer.from('a') }],
    },
    { endpoint: '/emails', key: 'k', bodyHash: new Uint8Array(32) },
  )
  const [email] = broken.input.emails
  email!.recipients.push({ ...email!.recipients[0]!, kind: null as never })
  const before = everything()
  const { replies } = await group(broken)
  assert.match(refusalOf(replies), /NOT NULL constraint failed: deliveries\.kind|null value in column "kind"/)
  assert.equal(everything(), before)
  assert.equal(announced('due'), [])
})

test('accept command: a request that throws does not affect others of its group', async t => {
  const { group, request, accountId, rows, counts } = await open(t)
  const [one, broken, two] = [await request(accountId), await request(accountId), await request(accountId)]
  broken.input.emails[0]!.row.subject = null as never
  const { replies } = await group(one, broken, two)
  assert.equal(
    replies.map(({ ok }) => ok),
    [true, false, true],
  )
  assert.is(rows('select * from emails').length, 2)
  assert.is(rows('select * from contents').length, 2)
  assert.is(counts()['emails.queued'], 2)
})

test('accept command: an id cannot be stored twice', async t => {
  const { group, request, accountId, rows } = await open(t)
  const one = await request(accountId)
  const { replies } = await group(one, one)
  assert.equal(
    replies.map(({ ok }) => ok),
    [true, false],
  )
  assert.is(rows('select * from emails').length, 1)
})

test.run()
