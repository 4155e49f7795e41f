import * as assert from 'uvu/assert'
import type { Change } from '../../../../src/interfaces/cli/control/operations.ts'
import { carryOut } from '../../../../src/interfaces/cli/control/operations.ts'
import { runProgram } from '../../../../src/interfaces/cli/program.ts'
import type { PathState } from '../../../../src/pipeline/queue/paths.ts'
import { createPasswords } from '../../../../src/resources/accounts/password.ts'
import { endings, finishFor, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('cli: the queue')
const MINUTE_MS = 60_000
const PATH: PathState = {
  sourceIps: ['192.0.2.1', '192.0.2.2'],
  window: 5,
  underWay: 2,
  claimed: 1,
  perSecond: null,
  openBreaker: null,
  isHalfOpen: false,
  isSpent: false,
}

async function open(t: TestContext, paths: Map<string, PathState[]> = new Map()) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock } = post
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const parts = {
    ...{ db: store.db, run: store.run, clock, newId, passwords: createPasswords() },
    ...{
      apiKeyPrefix: 're',
      accessTokenPrefix: 'mh',
      mailHost: 'mail.provider.example',
      pathsTo: async () => new Map(),
      examine: null,
    },
  } as unknown as Parameters<typeof carryOut>[0]
  const change = ((name, input) => carryOut(parts, name, input)) as Change
  const type = async (line: string) => {
    const said = { code: 0, out: '', err: '' }
    const unused = () => assert.unreachable() as never
    said.code = await runProgram(line.split(' '), {
      version: '1.2.3',
      openInstallation: async () => ({
        ...{
          db: store.db,
          clock,
          change,
          isDiskFull: async () => false,
          pathsTo: async () => paths,
          close: async () => {},
        },
      }),
      ...{ checkSources: unused, zoneRecords: unused, sourceSettings: unused, examine: unused },
      ...{ examineHost: unused, interfaceAddresses: unused, ask: unused, say: unused, pause: unused },
      ...{ readInput: unused, backupSettings: unused, importSettings: unused },
      out: text => {
        said.out += text
      },
      err: text => {
        said.err += text
      },
    })
    return said
  }
  /** Columns of the lines of a table, and the other lines. */
  const shown = async (line: string) =>
    (await type(line)).out
      .trimEnd()
      .split('\n')
      .map(text => text.trim().split(/ {2,}/))
  const json = async (line: string) => JSON.parse((await type(`${line} --json`)).out)
  const send = (...to: string[]) => post.send(accountId, { to })
  /** Defers the only delivery to the domain by five minutes. */
  const deferred = async (domain: string) => {
    await send(`a@${domain}`)
    const [delivery] = await post.claim(accountId, domain)
    const at = clock.now()
    const finish = finishFor(delivery!, at)
    await store.run('finish', {
      ...{ ...finish, ...endings.deferred(at, 5 * MINUTE_MS) },
      record: { ...finish.record, reply: '451 later' },
      counted: { destination: `mx.${domain}`, result: 'deferred', class: 'unknown', replyForm: '451 later' },
    })
  }
  const goesTo = (domain: string, destination: string) =>
    store.change(
      'insert into domain_destinations (domain, destination, seen_at) values (?, ?, 0)',
      domain,
      destination,
    )
  return { ...store, clock, type, shown, json, send, deferred, goesTo }
}

test('queue: domains are listed, the largest first, with their next attempt', async t => {
  const { send, deferred, shown, json, clock } = await open(t)
  await deferred('far.test')
  await send('a@there.test', 'b@there.test')
  clock.advance(2 * MINUTE_MS)
  const [headings, first, second, , total] = await shown('queue')
  assert.equal(headings!.slice(0, 7), [
    'DOMAIN',
    'QUEUED',
    'DEFERRED',
    'IN PROGRESS',
    'HELD',
    'OLDEST',
    'NEXT',
  ])
  assert.equal(first!.slice(0, 7), ['there.test', '2', '0', '0', '0', '2 min', 'now'])
  assert.equal(second!.slice(0, 7), ['far.test', '0', '1', '0', '0', '2 min', 'in 3 min'])
  assert.equal(total, ['2 queued, 1 deferred, 0 in progress, 0 held, for 2 domains.'])
  const { domain_count, domains, ...sums } = await json('queue')
  assert.equal([domain_count, sums], [2, { fresh: 2, deferred: 1, under_way: 0, held: 0 }])
  assert.equal(
    domains.map(({ domain, fresh, deferred, next_at }: Record<string, unknown>) => [
      domain,
      fresh,
      deferred,
      next_at,
    ]),
    [
      ['there.test', 2, 0, new Date(clock.now() - 2 * MINUTE_MS).toISOString()],
      ['far.test', 0, 1, new Date(clock.now() + 3 * MINUTE_MS).toISOString()],
    ],
  )
})

test('queue: a page says what is left, an empty queue that it is empty', async t => {
  const { send, shown, type } = await open(t)
  assert.is((await type('queue')).out, 'The queue is empty.\n')
  assert.is((await type('queue ages')).out, 'The queue is empty.\n')
  await send('a@there.test', 'b@there.test')
  await send('a@far.test')
  const page = await shown('queue --limit 1')
  assert.equal(
    [page[1]![0], page.at(-1)],
    ['there.test', ['Showing 1 to 1 of 2; use --offset 1 to show more.']],
  )
  const ages = await shown('queue ages --limit 1 --offset 1')
  assert.equal([ages[1]!.slice(0, 4), ages.length], [['far.test', '1', '0', '1'], 2])
})

test('queue: retried and canceled deliveries are counted', async t => {
  const { deferred, type, send } = await open(t)
  await deferred('far.test')
  assert.match((await type('queue retry far.test')).out, /^1 deferred delivery will be tried next\. /)
  assert.match((await type('queue retry far.test')).out, /^0 deferred deliveries will be tried next\. /)
  await deferred('one.test')
  await deferred('two.test')
  assert.match((await type('queue retry --all')).out, /^2 deferred deliveries will be tried next\. /)
  await send('a@there.test', 'b@there.test')
  assert.is((await type('queue cancel --domain there.test')).out, '2 deliveries canceled.\n')
  assert.is((await type('queue cancel --domain one.test')).out, '1 delivery canceled.\n')
})

test('queue: a hold exists once, is listed, and is released by the same options', async t => {
  const { type, shown, clock } = await open(t)
  assert.is((await type('queue holds')).out, 'There are no holds.\n')
  const hold = 'queue hold --domain there.test --reason spam'
  assert.match((await type(hold)).out, /^Matching mail is held/)
  assert.is((await type(hold)).out, 'This hold already exists.\n')
  clock.advance(3 * MINUTE_MS)
  assert.equal(await shown('queue holds'), [
    ['SELECTION', 'AGE', 'REASON'],
    ['there.test', '3 min', 'spam'],
  ])
  assert.is((await type('queue release --domain far.test')).code, 1)
  assert.is((await type('queue release --domain there.test')).out, 'The hold was released.\n')
  assert.is((await type('queue holds')).out, 'There are no holds.\n')
})

test('domains ban: a ban is listed until it is lifted; its mail can be canceled', async t => {
  const { type, shown, deferred, clock } = await open(t)
  await deferred('there.test')
  assert.is((await type('domains banned')).out, 'No domain is banned.\n')
  assert.match((await type('domains ban here.test --reason spam')).out, /^here\.test is banned\. /)
  assert.is((await type('domains ban here.test')).out, 'here.test is already banned.\n')
  clock.advance(3 * MINUTE_MS)
  assert.equal(await shown('domains banned'), [
    ['DOMAIN', 'AGE', 'REASON'],
    ['here.test', '3 min', 'spam'],
  ])
  assert.is((await type('queue holds')).out, 'There are no holds.\n')
  assert.is((await type('queue cancel --sender-domain here.test')).out, '1 delivery canceled.\n')
  assert.is((await type('domains unban here.test')).out, 'The ban of here.test was lifted.\n')
  assert.is((await type('domains unban here.test')).code, 1)
})

test('destinations: the results of a day, and those of a day without any', async t => {
  const { deferred, shown, type, json, clock } = await open(t)
  await deferred('far.test')
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  const row = ['mx.far.test', '0', '1', '0', '0']
  assert.equal((await shown('destinations'))[1]!.slice(0, 5), row)
  assert.equal((await shown(`destinations --day ${day}`))[1]!.slice(0, 5), row)
  assert.is((await type('destinations --day 2020-01-01')).out, 'No deliveries on that day.\n')
  const wrong = await type('destinations --day 2020-02-30')
  assert.equal([wrong.code, wrong.err.includes('--day must be a date such as 2026-08-05')], [2, true])
  const [entry] = await json('destinations')
  assert.equal([entry.deferred, entry.paused_until, entry.pause_reason, entry.paths], [1, null, null, []])
  assert.equal(
    entry.replies.map(({ form, count }: { form: string; count: number }) => [form, count]),
    [['451 later', 1]],
  )
})

for (const [what, over, expected] of [
  ['is active', {}, ['192.0.2.1 192.0.2.2', '2', '5', 'active']],
  ['has a rate', { perSecond: 2 }, ['192.0.2.1 192.0.2.2', '2', '5', '2/s', 'active']],
  ['has no address of its own', { sourceIps: [] }, ['(system default)', '2', '5', 'active']],
  [
    'is paused',
    { openBreaker: { until: Date.parse('2026-11-21T14:00:00.000Z'), reason: 'busy' } },
    ['192.0.2.1 192.0.2.2', '2', '5', 'paused until 2026-11-21T14:00:00.000Z: busy'],
  ],
  [
    'is probed, though the time of its pause is still there',
    { isHalfOpen: true, openBreaker: { until: Date.parse('2026-11-21T14:00:00.000Z'), reason: 'busy' } },
    ['192.0.2.1 192.0.2.2', '2', '5', 'probing'],
  ],
  [
    'has used up its warm-up',
    { isSpent: true },
    ['192.0.2.1 192.0.2.2', '2', '5', 'daily warm-up limit reached'],
  ],
] as const)
  test(`destinations: a path that ${what}`, async t => {
    const paths = new Map([['mx.far.test', [{ ...PATH, ...over }]]]) as Map<string, PathState[]>
    const { deferred, shown, goesTo, send } = await open(t, paths)
    await deferred('far.test')
    await goesTo('there.test', 'mx.far.test')
    await send('b@there.test')
    const row = ['mx.far.test', ...expected]
    assert.equal((await shown('destinations')).at(-1), row)
    assert.equal((await shown('queue destinations')).at(-1), row)
  })

test('destinations: one that is not paused is not resumed', async t => {
  const { type } = await open(t)
  const { code, err } = await type('destinations resume mx.far.test')
  assert.is(code, 1)
  assert.match(err, /mx\.far\.test is not paused\./)
})

test('queue destinations: a domain whose destination is not known yet has no name', async t => {
  const { send, goesTo, shown, json } = await open(t)
  await send('a@there.test', 'b@there.test')
  await send('a@far.test')
  await goesTo('there.test', 'mx.there.test')
  const [headings, ...rows] = await shown('queue destinations')
  assert.equal(headings!.slice(0, 4), ['DESTINATION', 'TOTAL', 'HELD', '5'])
  assert.equal(
    rows.map(row => row.slice(0, 4)),
    [
      ['mx.there.test', '2', '0', '2'],
      ['(unknown)', '1', '0', '1'],
    ],
  )
  assert.equal(
    (await json('queue destinations')).map(({ destination }: { destination: string }) => destination),
    ['mx.there.test', null],
  )
})

test('mode and drain: the mode is switched and shown with what is left', async t => {
  const { type, json, send } = await open(t)
  await send('a@there.test', 'b@there.test')
  assert.match(
    (await type('mode')).out,
    /^The service is in normal mode\. Mail is accepted and delivered\.\n/,
  )
  const drained = (await type('drain --reason move')).out.split('\n')
  assert.match(drained[0]!, /^The service is draining since .*Z\. No new email is accepted/)
  assert.is(drained[1], 'Reason: move')
  assert.is(
    drained[2],
    'Left: 2 queued, 0 deferred, 0 in progress, 0 held; 0 scheduled emails, 0 broadcasts.',
  )
  assert.is((await json('drain')).reason, 'move', 'a repeated command changes nothing')
  assert.is((await json('mode read-only')).mode, 'read-only')
  assert.is((await json('mode normal')).mode, 'normal')
  const unknown = await type('mode off')
  assert.equal([unknown.code, /"off" is not a mode/.test(unknown.err)], [2, true])
})

test.run()
