import * as assert from 'uvu/assert'
import { utcDay } from '../../../../src/lib/periods.ts'
import type { Finish } from '../../../../src/pipeline/queue/commands.ts'
import { reportDestinations } from '../../../../src/pipeline/queue/destination-report.ts'
import { sweepDestinations } from '../../../../src/pipeline/queue/destination-sweeper.ts'
import {
  type CountedResult,
  destinationKind,
  parseDestinationKind,
  REPLY_FORMS_MAX,
  replyFormOf,
} from '../../../../src/pipeline/queue/destinations.ts'
import { endings, finishFor, HOUR_MS, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/destinations')
const DESTINATION = 'mx1.big.test mx2.big.test'
const DELIVERED: CountedResult = {
  destination: DESTINATION,
  result: 'delivered',
  class: null,
  replyForm: null,
}
const deferral = (reply: string, destination = DESTINATION): CountedResult => ({
  destination,
  result: 'deferred',
  class: 'rate-limited',
  replyForm: replyFormOf(reply),
})

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  /** One attempt for each; all are recorded together. */
  const arrive = async (...ends: { counted: CountedResult; reply?: string; to?: string }[]) => {
    const at = post.clock.now()
    const requests: { name: string; input: Finish }[] = []
    for (const { counted, reply = '250 ok', to = 'there.test' } of ends) {
      await post.send(accountId, { to: [`a@${to}`] })
      const [delivery] = await post.claim(accountId, to, { limit: 1 })
      const whole = finishFor(delivery!, at)
      const over = counted.result === 'delivered' ? {} : endings.deferred(at)
      const input = { ...whole, ...over, counted, record: { ...whole.record, reply } }
      requests.push({ name: 'finish', input })
    }
    await store.group(...requests)
  }
  const report = async (
    over: { day?: string; destination?: string | null; limit?: number; offset?: number } = {},
  ) => {
    const now = post.clock.now()
    return reportDestinations(store.db, {
      day: utcDay(now),
      destination: null,
      now,
      limit: 20,
      offset: 0,
      ...over,
    })
  }
  return { ...store, ...post, arrive, report }
}

test('destinations: results are counted by destination, bounce class and day', async t => {
  const { arrive, report, clock } = await open(t)
  await arrive(
    { counted: DELIVERED },
    { counted: DELIVERED },
    { counted: deferral('421 4.7.0 slow down'), reply: '421 4.7.0 slow down' },
    { counted: { ...DELIVERED, destination: 'google' } },
  )
  const before = utcDay(clock.now())
  const { total, entries } = await report()
  assert.is(total, 2)
  assert.equal(
    entries.map(({ destination, counts, deferredBy, bouncedBy }) => ({
      destination,
      counts,
      deferredBy,
      bouncedBy,
    })),
    [
      {
        destination: DESTINATION,
        counts: { delivered: 2, deferred: 1, bounced: 0, expired: 0 },
        deferredBy: { 'rate-limited': 1 },
        bouncedBy: {},
      },
      {
        destination: 'google',
        counts: { delivered: 1, deferred: 0, bounced: 0, expired: 0 },
        deferredBy: {},
        bouncedBy: {},
      },
    ],
  )
  clock.advance(24 * HOUR_MS)
  await arrive({ counted: DELIVERED })
  assert.is((await report()).entries[0]!.counts.delivered, 1)
  assert.is((await report({ day: before })).total, 2)
  assert.equal(
    (await report({ day: before, destination: 'google' })).entries.map(({ destination }) => destination),
    ['google'],
  )
  assert.equal(
    (await report({ day: before, limit: 1, offset: 1 })).entries.map(({ destination }) => destination),
    ['google'],
  )
})

test('destinations: a result with a lost lease is not counted', async t => {
  const { send, claim, account: _, run, clock, rows, report } = await open(t)
  const accountId = rows<{ id: Uint8Array }>('select id from accounts')[0]!.id
  await send(accountId)
  const [delivery] = await claim(accountId)
  const finish = { ...finishFor(delivery!, clock.now()), counted: DELIVERED }
  assert.is(await run('finish', finish), true)
  assert.is(await run('finish', finish), false)
  assert.is((await report()).entries[0]!.counts.delivered, 1)
})

test('destinations: replies that differ only in addresses and numbers are counted as one', async t => {
  const { arrive, report } = await open(t)
  const slow = (id: string) => `421 4.7.0 [192.0.2.${id}] too many from a${id}@there.test, see id-${id}`
  const message = [slow('1'), slow('2'), '451 4.3.0 not now']
  await arrive(...message.map(reply => ({ counted: deferral(reply), reply })))
  await arrive({ counted: deferral(slow('3')), reply: slow('3') })
  const { replies } = (await report()).entries[0]!
  assert.equal(
    replies.map(({ form, example, count }) => [form, example, count]),
    [
      ['421 4.7.0 # too many from # see #', slow('2'), 3],
      ['451 4.3.0 not now', '451 4.3.0 not now', 1],
    ],
  )
})

test('destinations: a destination with ever new replies stays within its limit of reply forms', async t => {
  const { arrive, report, rows } = await open(t)
  const word = (i: number) => String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))
  const message = Array.from({ length: 40 }, (_, i) => `451 4.3.0 ${word(i)}`)
  for (const reply of message) await arrive({ counted: deferral(reply), reply })
  assert.is(rows('select 1 from destination_replies').length, REPLY_FORMS_MAX + 1)
  const { replies } = (await report()).entries[0]!
  assert.equal([replies[0]!.form, replies[0]!.count], ['', 40 - REPLY_FORMS_MAX])
  assert.is(
    replies.reduce((sum, { count }) => sum + count, 0),
    40,
  )
})

test('destinations: a paused destination is reported without any results', async t => {
  const { run, report, clock } = await open(t)
  const now = clock.now()
  const state = {
    destination: 'mx.down.test',
    source: '',
    pausedUntil: now + 60_000,
    pauseMs: 60_000,
    reason: 'no answer',
  }
  await run('putDestinationState', { ...state, changedAt: now })
  const { entries } = await report()
  assert.equal(
    entries.map(({ destination, pause }) => ({ destination, pause })),
    [{ destination: 'mx.down.test', pause: { until: now + 60_000, reason: 'no answer' } }],
  )
})

test('destinations: the destination of a domain is stored and updated', async t => {
  const { arrive, rows, clock } = await open(t)
  await arrive({ counted: DELIVERED, to: 'one.test' }, { counted: DELIVERED, to: 'two.test' })
  const first = clock.now()
  clock.advance(HOUR_MS)
  await arrive({ counted: DELIVERED, to: 'one.test' })
  await arrive({ counted: { ...DELIVERED, destination: 'google' }, to: 'two.test' })
  assert.equal(rows('select domain, destination, seen_at from domain_destinations order by domain'), [
    { domain: 'one.test', destination: DESTINATION, seen_at: first },
    { domain: 'two.test', destination: 'google', seen_at: clock.now() },
  ])
  clock.advance(25 * HOUR_MS)
  await arrive({ counted: DELIVERED, to: 'one.test' })
  assert.equal(rows("select seen_at from domain_destinations where domain = 'one.test'"), [
    { seen_at: clock.now() },
  ])
})

test('destinations: data is deleted after 31 days', async t => {
  const { arrive, db, run, clock, rows } = await open(t)
  await arrive({ counted: DELIVERED }, { counted: deferral('451 no'), reply: '451 no' })
  const left = () => [
    rows("select 1 from counters where kind like 'destination.%'").length,
    rows('select 1 from destination_replies').length,
    rows('select 1 from domain_destinations').length,
  ]
  const sweep = () => Array.fromAsync(sweepDestinations({ db, run, clock }))
  clock.advance(30 * 24 * HOUR_MS)
  await sweep()
  assert.equal(left(), [2, 1, 1])
  clock.advance(3 * 24 * HOUR_MS)
  await sweep()
  assert.equal(left(), [0, 0, 0])
})

test('destinations: the name of a counter can be parsed back', () => {
  for (const { replyForm: _, ...counted } of [DELIVERED, deferral('x'), deferral('x', 'google')])
    assert.equal(parseDestinationKind(destinationKind(counted)), counted)
  for (const kind of ['destination.', 'destination.lost x', 'emails.sent', 'destination.delivered '])
    assert.is(parseDestinationKind(kind), undefined, kind)
})

test('destinations: the form of a reply keeps its codes and words', () => {
  const forms: [text: string, form: string][] = [
    ['550 5.1.1 <a@b.test>: no such user', '550 5.1.1 # no such user'],
    ['450-4.2.0 greylisted for 300 seconds', '450-4.2.0 greylisted for # seconds'],
    ['421 try 1 2 3 later', '421 try # later'],
    ['no answer within 20 s', 'no answer within # s'],
    ['554 two\r\nlines', '554 two lines'],
    ['', ''],
  ]
  for (const [text, form] of forms) assert.is(replyFormOf(text), form)
  assert.is(replyFormOf(`550 ${'x'.repeat(10_000)}`).length, 160)
})

test.run()
