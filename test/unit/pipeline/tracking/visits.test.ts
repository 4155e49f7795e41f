import { setImmediate as turn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { visitorOf } from '../../../../src/pipeline/tracking/bot-detection.ts'
import type { Hit } from '../../../../src/pipeline/tracking/record-visits.ts'
import { VisitBatcher } from '../../../../src/pipeline/tracking/visit-batcher.ts'
import { finishFor, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('tracking/visits')

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'
const APPLE = 'Mozilla/5.0'
const SHOP = 'https://shop.test/'
/** Time between clicks on several links by which they are no burst. */
const LEISURE_MS = 2_000

/** An email that was delivered to a@ and b@ an hour ago, and a batcher of visits over its store. */
async function openVisited(t: TestContext, { broadcastId }: { broadcastId?: Id } = {}) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock } = post
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const emailId = await post.send(accountId, { to: ['a@there.test', 'b@there.test'] })
  if (broadcastId) store.change('update emails set broadcast_id = ? where id = ?', broadcastId, emailId)
  for (const delivery of await post.claim(accountId))
    await store.run('finish', finishFor(delivery, clock.now()))
  clock.advance(3_600_000)
  const failures: unknown[] = []
  const batcher = new VisitBatcher({
    run: store.run,
    clock,
    onError: error => failures.push(error),
    onDropped: count => failures.push(count),
  })
  const hit = (
    userAgent = FIREFOX,
    over: { method?: string; headers?: Record<string, string> } = {},
  ): Hit => ({
    at: clock.now(),
    visitor: visitorOf(over.method ?? 'GET', { 'user-agent': userAgent, ...over.headers }, '192.0.2.7'),
  })
  const to = (ordinal: number) => ({ accountId, emailId, ordinal })
  const open = (ordinal: number, ...rest: Parameters<typeof hit>) => batcher.opened(to(ordinal), hit(...rest))
  const click = (ordinal: number, number = 0, ...rest: Parameters<typeof hit>) =>
    batcher.clicked({ recipient: to(ordinal), number, target: `${SHOP}${number}` }, hit(...rest))
  const email = () =>
    store.rows<{ open_count: number; click_count: number; last_event_at: number }>(
      'select open_count, click_count, last_event_at from emails where id = ?',
      emailId,
    )[0]!
  const events = () =>
    store
      .rows<{ type: string; recipient: string; data: string }>(
        "select type, recipient, data from events where type in ('email.opened', 'email.clicked') order by id",
      )
      .map(({ type, recipient, data }) => ({ type, recipient, ...JSON.parse(data) }))
  const metric = (name: string) =>
    store.rows<{ count: number }>(
      'select sum(count) as count from counters where kind = ?',
      `metrics.${name}`,
    )[0]!.count ?? 0
  return {
    ...store,
    ...post,
    batcher,
    hit,
    to,
    open,
    click,
    email,
    events,
    metric,
    accountId,
    emailId,
    failures,
  }
}

test('visits: an open and a click are recorded with their visitor and counted', async t => {
  const { open, click, batcher, email, events, metric, clock } = await openVisited(t)
  open(0)
  clock.advance(100)
  click(0)
  await batcher.close()
  const who = { ip_address: '192.0.2.7', user_agent: FIREFOX, machine: null, proxy: null }
  assert.equal(events(), [
    { type: 'email.opened', recipient: 'a@there.test', open: who },
    { type: 'email.clicked', recipient: 'a@there.test', click: { link: `${SHOP}0`, ...who } },
  ])
  assert.equal(email(), { open_count: 1, click_count: 1, last_event_at: clock.now() })
  assert.equal(['opened', 'unique_opened', 'clicked', 'unique_clicked'].map(metric), [1, 1, 1, 1])
})

test('visits: visits are written after the batch interval, by a timer', async t => {
  const { open, batcher, email, clock, run } = await openVisited(t)
  open(0)
  await run('linkTerms', { baseUrl: 'https://any.test' })
  assert.is(email().open_count, 0)
  clock.advance(500)
  await run('linkTerms', { baseUrl: 'https://any.test' }) // behind it in the writer's order
  assert.is(email().open_count, 1)
  await batcher.close()
})

test('visits: a repeated open or click counts again but is the same recipient', async t => {
  const { open, click, batcher, metric, email, clock } = await openVisited(t)
  for (let round = 0; round < 2; round++) {
    for (const ordinal of [0, 0, 1]) open(ordinal)
    click(0, round)
    clock.advance(60_000)
  }
  await batcher.close()
  assert.equal([email().open_count, email().click_count], [6, 2])
  assert.equal(['opened', 'unique_opened', 'clicked', 'unique_clicked'].map(metric), [6, 2, 2, 1])
})

test('visits: many clicks on one link make one row and a few events, and all are counted', async t => {
  const { click, batcher, events, email, rows, clock, failures, run } = await openVisited(t)
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 500; i++) click(0)
    clock.advance(500)
    await run('linkTerms', { baseUrl: 'https://any.test' }) // behind it in the writer's order
    await turn()
  }
  await batcher.close()
  assert.is(email().click_count, 5_000)
  assert.equal(rows('select ordinal, link, count, machine_count from visits'), [
    { ordinal: 0, link: 0, count: 5_000, machine_count: 0 },
  ])
  assert.is(events().length, 8, 'as many as are kept of one moment')
  assert.equal(failures, [])
})

test('visits: the first twenty visits are recorded as events', async t => {
  const { click, batcher, events, email, clock, run } = await openVisited(t)
  for (let round = 0; round < 25; round++) {
    click(0)
    clock.advance(500)
    await run('linkTerms', { baseUrl: 'https://any.test' }) // behind it in the writer's order
    await turn()
  }
  await batcher.close()
  assert.equal([events().length, email().click_count], [20, 25])
})

test('visits: visits beyond the limit of waiting entries are dropped and reported', async t => {
  const { batcher, email, failures, hit, accountId } = await openVisited(t)
  for (let i = 0; i < 200_000; i++)
    batcher.opened({ accountId, emailId: Buffer.from(String(i).padStart(16)), ordinal: 0 }, hit())
  await batcher.close()
  assert.equal(failures, [180_000])
  assert.is(email().open_count, 0)
})

for (const [what, userAgent, over, expected] of [
  [
    'Apple Mail Privacy, which prefetches all images',
    APPLE,
    {},
    { machine: 'apple-mail-privacy', proxy: null },
  ],
  [
    'the image proxy of Gmail',
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    {},
    { machine: null, proxy: 'gmail-proxy' },
  ],
  [
    'the image proxy of Yahoo',
    'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
    {},
    { machine: null, proxy: 'yahoo-proxy' },
  ],
  ['a HEAD request', FIREFOX, { method: 'HEAD' }, { machine: 'head-request', proxy: null }],
  [
    'a prefetch',
    FIREFOX,
    { headers: { 'sec-purpose': 'prefetch;prerender' } },
    { machine: 'prefetch', proxy: null },
  ],
  ['a missing user agent', '', {}, { machine: 'no-user-agent', proxy: null }],
  ['a crawler', 'Mozilla/5.0 (compatible; Googlebot/2.1)', {}, { machine: 'crawler', proxy: null }],
  ['a mail filter', 'Barracuda Sentinel (EE)', {}, { machine: 'mail-filter', proxy: null }],
  ['a preview', 'Slackbot-LinkExpanding 1.0', {}, { machine: 'link-preview', proxy: null }],
  ['a program', 'python-requests/2.32', {}, { machine: 'program', proxy: null }],
  [
    'a phone called CUBOT as a person',
    'Mozilla/5.0 (Linux; Android 9; CUBOT P40) AppleWebKit/537.36 Chrome/131.0 Mobile Safari/537.36',
    {},
    { machine: null, proxy: null },
  ],
] as const)
  test(`visits: detects ${what}`, async t => {
    const { open, batcher, events, email, metric } = await openVisited(t)
    open(0, userAgent, over)
    await batcher.close()
    const [{ open: told }] = events() as [{ open: { machine: string | null; proxy: string | null } }]
    assert.equal({ machine: told.machine, proxy: told.proxy }, expected)
    const counted = expected.machine === null ? 1 : 0
    assert.equal([email().open_count, metric('opened'), metric('unique_opened')], [counted, counted, counted])
  })

test('visits: machines are counted apart, recorded three times, and do not make an open the first', async t => {
  const { open, batcher, events, rows, metric, clock } = await openVisited(t)
  for (let i = 0; i < 10; i++) open(0, APPLE)
  clock.advance(60_000)
  open(0)
  await batcher.close()
  assert.equal(rows('select count, machine_count from visits'), [{ count: 1, machine_count: 10 }])
  assert.equal(
    events().map(({ open: { machine } }) => machine),
    [...Array(3).fill('apple-mail-privacy'), null],
  )
  assert.equal([metric('opened'), metric('unique_opened')], [1, 1])
})

test('visits: a click before or within a second of the delivery is a machine', async t => {
  const { send, claim, run, account: _, batcher, hit, accountId, clock, rows } = await openVisited(t)
  const emailId = await send(accountId)
  const link = { recipient: { accountId, emailId, ordinal: 0 }, number: 0, target: SHOP }
  batcher.clicked(link, hit())
  clock.advance(2_000)
  await run('linkTerms', { baseUrl: 'https://any.test' })
  for (const delivery of await claim(accountId)) await run('finish', finishFor(delivery, clock.now()))
  clock.advance(999)
  batcher.clicked(link, hit())
  clock.advance(1)
  batcher.clicked(link, hit())
  await batcher.close()
  const told = rows<{ data: string }>("select data from events where type = 'email.clicked' order by id")
  assert.equal(
    told.map(({ data }) => JSON.parse(data).click.machine),
    ['before-delivery', 'too-soon', null],
  )
})

test('visits: visits to a deleted email or one of another account are not recorded', async t => {
  const { batcher, hit, to, rows, account, email } = await openVisited(t)
  batcher.opened({ ...to(0), emailId: newId(0) }, hit())
  batcher.opened({ ...to(0), accountId: account('Other') }, hit())
  batcher.opened({ ...to(0), ordinal: 7 }, hit())
  await batcher.close()
  assert.equal(rows('select * from visits'), [])
  assert.is(email().open_count, 0)
})

test('visits: each link of a broadcast has its counts', async t => {
  const broadcastId = newId(1)
  const { click, batcher, rows, clock } = await openVisited(t, { broadcastId })
  click(0, 0)
  click(0, 0)
  click(1, 0)
  click(1, 2)
  click(1, 2, APPLE)
  clock.advance(60_000)
  click(0, 0)
  await batcher.close()
  assert.equal(
    rows('select link, url, click_count, unique_count, machine_count from broadcast_links order by link'),
    [
      { link: 0, url: `${SHOP}0`, click_count: 4, unique_count: 2, machine_count: 0 },
      { link: 2, url: `${SHOP}2`, click_count: 1, unique_count: 1, machine_count: 1 },
    ],
  )
  const reaction = `broadcast ${Buffer.from(broadcastId)
    .toString('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})(.*)/, '$1-$2-$3-$4-$5')} reaction.`
  assert.equal(
    rows(`select kind, count from counters where kind like '${reaction}%' order by kind`).map(row =>
      Object.values(row),
    ),
    [
      [`${reaction}clicked`, 5],
      [`${reaction}unique_clicked`, 2],
    ],
  )
})

test('visits: a link that differs for one recipient is stored with the visit', async t => {
  const { batcher, hit, to, rows, clock } = await openVisited(t, { broadcastId: newId(1) })
  const click = (ordinal: number, number: number | null, target: string) => {
    clock.advance(LEISURE_MS)
    batcher.clicked({ recipient: to(ordinal), number, target }, hit())
  }
  for (const ordinal of [0, 1, 0]) {
    click(ordinal, 0, `${SHOP}?who=${ordinal}`)
    click(ordinal, 1, SHOP)
    click(ordinal, null, `${SHOP}promo`)
  }
  await batcher.close()
  const links = rows<{ url: string; click_count: number; unique_count: number }>(
    'select url, click_count, unique_count from broadcast_links order by link',
  )
  assert.equal(
    links.map(({ url, click_count, unique_count }) => [url, click_count, unique_count]),
    [
      [`${SHOP}?who=0`, 3, 2],
      [SHOP, 3, 2],
      [`${SHOP}promo`, 3, 2],
    ],
  )
  assert.equal(
    rows<{ url: string | null }>('select url from visits order by ordinal, link').map(({ url }) => url),
    [null, null, null, `${SHOP}?who=1`, null, null],
  )
})

test('visits: links of values have at most a thousand rows per broadcast, and every visit counts', async t => {
  const { batcher, hit, to, rows, email, clock } = await openVisited(t, { broadcastId: newId(1) })
  for (let i = 0; i < 1_010; i++) {
    clock.advance(LEISURE_MS)
    batcher.clicked({ recipient: to(0), number: null, target: `${SHOP}?token=${i}` }, hit())
  }
  batcher.clicked({ recipient: to(1), number: null, target: `${SHOP}?token=0` }, hit())
  batcher.clicked({ recipient: to(1), number: 7, target: SHOP }, hit())
  await batcher.close()
  assert.equal(rows('select count(*) as count, sum(click_count) as clicks from broadcast_links'), [
    { count: 1_001, clicks: 1_002 },
  ])
  assert.equal(rows('select count(*) as count, count(url) as own from visits'), [{ count: 1_012, own: 10 }])
  assert.is(email().click_count, 1_012)
})

test('visits: visits that could not be stored are tried again', async t => {
  const { run, clock, hit, to, email } = await openVisited(t)
  const failures: unknown[] = []
  let isDown = true
  const batcher = new VisitBatcher({
    run: (name, input) => (isDown ? Promise.reject(new Error('down')) : run(name, input)),
    clock,
    onError: error => failures.push(error),
    onDropped() {},
  })
  batcher.opened(to(0), hit())
  clock.advance(500)
  await turn()
  assert.is(failures.length, 1)
  isDown = false
  clock.advance(500)
  await batcher.close()
  assert.is(email().open_count, 1)
})

for (const [what, clicks, people] of [
  [
    'three links within three seconds',
    [
      [0, 0],
      [1_400, 1],
      [2_900, 2],
    ],
    0,
  ],
  [
    'every link at once',
    [
      [0, 0],
      [0, 1],
      [0, 2],
      [0, 3],
      [0, 4],
    ],
    0,
  ],
  ['one link after another', Array.from({ length: 12 }, (_, i) => [i * 1_000, i]), 0],
  [
    'two links, each twice',
    [
      [0, 0],
      [100, 1],
      [200, 0],
      [300, 1],
    ],
    4,
  ],
  [
    'two links within three seconds',
    [
      [0, 0],
      [1_500, 1],
    ],
    2,
  ],
  [
    'three links at leisure',
    [
      [0, 0],
      [2_000, 1],
      [4_000, 2],
    ],
    3,
  ],
  [
    'one link many times',
    [
      [0, 0],
      [100, 0],
      [200, 0],
      [300, 0],
    ],
    4,
  ],
  [
    'many links, and one of them a minute later',
    [
      [0, 0],
      [1, 1],
      [2, 2],
      [60_000, 1],
    ],
    1,
  ],
] as readonly [string, readonly [number, number][], number][])
  test(`visits: clicks on ${what}: ${people} count`, async t => {
    const { click, batcher, email, events, metric, clock, rows } = await openVisited(t)
    const began = clock.now()
    for (const [at, link] of clicks) {
      // batches are recorded in between
      while (clock.now() < began + at) {
        clock.advance(Math.min(500, began + at - clock.now()))
        await turn()
      }
      click(0, link)
      click(1, 7)
    }
    await batcher.close()
    assert.is(email().click_count, people + clicks.length, 'the other recipient follows one link')
    const told = events().filter(({ recipient }) => recipient === 'a@there.test')
    assert.is(told.filter(({ click: { machine } }) => machine === null).length, people)
    assert.ok(told.every(({ click: { machine } }) => machine === null || machine === 'burst'))
    assert.is(Number(metric('clicked')), people + clicks.length)
    const [counted] = rows<{ people: number; machines: number }>(
      'select sum(count) as people, sum(machine_count) as machines from visits where ordinal = 0',
    )
    assert.equal([Number(counted!.people), Number(counted!.machines)], [people, clicks.length - people])
  })

test('visits: a click is recorded three seconds later, an open at once', async t => {
  const { click, open, batcher, email, clock } = await openVisited(t)
  open(0)
  click(0)
  for (let i = 0; i < 5; i++) {
    clock.advance(500)
    await turn()
  }
  await until(() => email().open_count === 1)
  assert.is(email().click_count, 0)
  // The batcher sets its next timer once the transaction has ended, which may be after the commit is visible.
  await until(() => {
    clock.advance(500)
    return email().click_count === 1
  })
  await batcher.close()
})

test.run()
