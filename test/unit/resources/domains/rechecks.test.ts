import * as assert from 'uvu/assert'
import { type Id, idKey } from '../../../../src/lib/ids.ts'
import { DOMAIN_CHECK } from '../../../../src/resources/domains/commands.ts'
import { DUE_AGAIN_AFTER_MS, startRechecks } from '../../../../src/resources/domains/rechecks.ts'
import type { CheckOutcome } from '../../../../src/resources/domains/status.ts'
import type { DomainStatus } from '../../../../src/store/model/schema.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('domains/rechecks')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

async function open(t: TestContext) {
  const opened = await t.using(openLocalStore())
  let running = 0
  const run: typeof opened.run = async (name, input) => {
    running++
    return opened.run(name, input).finally(() => running--)
  }
  const store = { ...opened, run }
  const post = postOver(store)
  const accountId = post.account()
  const { clock } = post
  let outcome: CheckOutcome = 'gone'
  /** When each was checked, in ms of its age. */
  const checked: { id: Id; at: number }[] = []
  let underWay = 0
  let limit = 0
  const check = async (account: Id, id: Id) => {
    checked.push({ id, at: clock.now() })
    limit = Math.max(limit, ++underWay)
    await store.run('recordDomainCheck', {
      ...{ accountId: account, id, outcome, visibleSlots: [], checks: '{}' },
      at: clock.now(),
    })
    underWay--
  }
  const domain = (name: string, status: DomainStatus, checkAt: number): Id => {
    const id = post.domain(accountId, name, { status })
    store.change('update domains set check_at = ?, created_at = ? where id = ?', checkAt, clock.now(), id)
    return id
  }
  const errors: unknown[] = []
  const start = (checkWith: typeof check = check) => {
    const rechecks = startRechecks({
      run: store.run,
      clock,
      check: checkWith,
      onError: error => errors.push(error),
    })
    store.on(DOMAIN_CHECK, times => {
      for (const at of times as number[]) rechecks.note(at)
    })
    t.after(() => rechecks.stop())
    return rechecks
  }
  /** Moves the clock step by step, so that what becomes due on the way is done at its time. */
  const pass = async (ms: number, stepMs = ms) => {
    for (let gone = 0; gone < ms; gone += stepMs) {
      clock.advance(stepMs)
      await settled()
      while (running > 0) await settled()
    }
  }
  const dueAt = (id: Id) =>
    store.rows<{ check_at: number | null }>('select check_at from domains where id = ?', id)[0]!.check_at
  return {
    ...store,
    ...post,
    accountId,
    domain,
    start,
    check,
    checked,
    errors,
    dueAt,
    pass,
    maxAtOnce: () => limit,
    will: (next: CheckOutcome) => {
      outcome = next
    },
  }
}

test('rechecks: a pending domain is checked after 1, 2, 5, 10 and 30 minutes, then hourly', async t => {
  const { domain, clock, start, checked, pass } = await open(t)
  const bornAt = clock.now()
  domain('here.test', 'pending', bornAt + MINUTE_MS)
  start()
  await pass(4 * HOUR_MS, MINUTE_MS / 2)
  const ages = checked.map(({ at }) => (at - bornAt) / MINUTE_MS)
  assert.equal(ages.slice(0, 5), [1, 2, 5, 10, 30])
  const gaps = ages.slice(5).map((age, i) => age - ages[i + 4]!)
  assert.ok(gaps.length === 3 && gaps.every(gap => gap >= 55 && gap <= 60.5), JSON.stringify(ages))
})

test('rechecks: few run at a time, the longest overdue first', async t => {
  const { domain, clock, start, checked, maxAtOnce, will } = await open(t)
  will('good')
  const now = clock.now()
  const ids = Array.from({ length: 40 }, (_, i) => domain(`d${i}.test`, 'verified', now - i))
  start()
  await until(() => checked.length === 40)
  assert.is(maxAtOnce(), 4)
  const places = ids.map(id => checked.findIndex(each => idKey(each.id) === idKey(id)))
  assert.ok(
    places.every((place, i) => Math.abs(place - (39 - i)) < 4),
    JSON.stringify(places),
  )
})

test('rechecks: a check without a result is due again, also after a restart', async t => {
  const { domain, clock, start, check, checked, errors, dueAt } = await open(t)
  const id = domain('here.test', 'verified', clock.now())
  const first = start(async () => {
    throw new Error('broken')
  })
  await until(() => errors.length === 1)
  assert.is(Number(dueAt(id)), clock.now() + DUE_AGAIN_AFTER_MS)
  await first.stop()
  clock.advance(DUE_AGAIN_AFTER_MS)
  start(check)
  await until(() => checked.length === 1)
  assert.is(errors.length, 1)
})

test('rechecks: a new domain wakes the timer', async t => {
  const { domain, clock, start, checked, run, accountId, dueAt, pass } = await open(t)
  domain('later.test', 'verified', clock.now() + 20 * HOUR_MS)
  start()
  await settled()
  const createdAt = clock.now()
  const row = {
    ...{ id: newId(createdAt), accountId, name: 'new.test', region: 'us-west-2', createdAt },
    ...{ status: 'pending' as const, verificationToken: 'token', tls: 'opportunistic' as const },
    ...{ openTracking: 0 as const, clickTracking: 0 as const, sending: 1 as const, receiving: 1 as const },
    ...{ trackingSubdomain: null, trackingTerms: null },
    ...{ verifiedAt: null, lastCheckedAt: null, failingSince: null, checks: null },
    checkAt: createdAt + MINUTE_MS,
    claimedAt: null,
  }
  const key = {
    ...{ id: newId(createdAt), domainId: row.id, slot: 1, token: 'one', createdAt },
    ...{ algorithm: 'rsa-sha256' as const, publicKey: 'KEY', privateKey: new Uint8Array(1) },
    ...{ activeFrom: null, retiredAt: null, revokedAt: null },
  }
  assert.is(await run('createDomain', { domain: row, keys: [key] }), 'created')
  await pass(MINUTE_MS, MINUTE_MS / 4)
  assert.is(checked.length, 1)
  assert.is(Number(dueAt(row.id)), createdAt + 2 * MINUTE_MS)
})

test('rechecks: none starts after the stop', async t => {
  const { domain, clock, start, checked } = await open(t)
  domain('here.test', 'verified', clock.now() + HOUR_MS)
  await start().stop()
  clock.advance(2 * HOUR_MS)
  await settled()
  assert.is(checked.length, 0)
  assert.is(clock.timerCount, 0)
})

test.run()
