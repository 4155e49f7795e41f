import * as assert from 'uvu/assert'
import { createSourceIps } from '../../../../src/pipeline/delivery/shaping/source-ips.ts'
import { createWarmupBudgets } from '../../../../src/pipeline/delivery/shaping/warmup-budget.ts'
import { listWarmupCounts } from '../../../../src/pipeline/queue/warmup-grants.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('warm-up budget')
const HOUR_MS = 3_600_000
/** The clock begins on its second day. */
const START = Date.UTC(2026, 10, 20)
const IP = '192.0.2.2'

/** Opens a store that several threads share, with a warm-up budget. */
async function open(t: TestContext, { caps = [8, 8, 12], ips = [IP] } = {}) {
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  const spent: string[] = []
  const errors: string[] = []
  let broken = false
  const run: typeof store.run = (name, input) =>
    broken ? Promise.reject(new Error('disk full')) : store.run(name, input)
  const thread = () => {
    const warmupBudgets = createWarmupBudgets({
      clock,
      run,
      plan: { caps, starts: new Map(ips.map(ip => [ip, START])) },
      onSpent: ({ address, provider, cap }) => void spent.push(`${address} ${provider} ${cap}`),
      onError: error => void errors.push((error as Error).message),
    })
    t.after(() => warmupBudgets.close())
    const [source] = createSourceIps(
      ips.map(address => ({ address, name: null })),
      clock,
    ).sources
    return {
      ...warmupBudgets,
      /** Sends as much as it may, until no more is granted. @returns how many */
      async sendAll(destination: string, isTransactional = false, wasSent = true) {
        let woken = false
        const warmupBudget = warmupBudgets.of(source!, destination, () => {
          woken = true
        })
        for (let count = 0; ; count++) {
          while (!warmupBudget.allows(isTransactional)) {
            if (warmupBudget.isSpent(isTransactional)) return count
            await until(() => woken)
            woken = false
          }
          warmupBudget.begin(isTransactional)(wasSent)
          if (!wasSent) return 0
        }
      },
      at: (destination: string, wake = () => {}) => warmupBudgets.of(source!, destination, wake),
    }
  }
  return {
    ...store,
    clock,
    spent,
    errors,
    thread,
    breaks: (isBroken: boolean) => {
      broken = isBroken
    },
    counts: async () =>
      (await listWarmupCounts(store.db, new Date(clock.now()).toISOString().slice(0, 10))).map(
        ({ address, provider, count }) => `${address} ${provider} ${count}`,
      ),
  }
}

test('the budget applies to each provider, with a quarter reserved for transactional mail', async t => {
  const { thread, spent, counts } = await open(t)
  const { sendAll } = thread()
  assert.is(await sendAll('google'), 6)
  assert.is(await sendAll('google', true), 2)
  assert.is(await sendAll('mx.there.test', true), 8)
  assert.is(await sendAll('mx.far.test', true), 0, 'small destinations share')
  assert.equal(spent, [`${IP} google 6`, `${IP} google 8`, `${IP} other 8`])
  assert.equal(await counts(), [`${IP} google 8`, `${IP} other 8`])
})

test('messages that transactional mail has used are spent for all classes, also after a restart', async t => {
  const { thread, clock } = await open(t)
  const first = thread()
  const before = first.at('google')
  assert.is(await first.sendAll('google', true), 8)
  assert.equal([before.isSpent(true), before.isSpent(false)], [true, true])
  const later = thread()
  let woken = 0
  const after = later.at('google', () => {
    woken++
  })
  assert.is(after.isSpent(false), false, 'nobody has asked yet')
  assert.is(await later.sendAll('google', true), 0)
  assert.is(after.isSpent(false), true)
  clock.advance(24 * HOUR_MS)
  assert.ok(woken > 0)
  assert.is(after.isSpent(false), false)
})

test('messages granted to all classes stay usable when transactional mail has none left', async t => {
  const { thread } = await open(t, { caps: [0, 100] })
  const { sendAll, at } = thread()
  await sendAll('google', false, false)
  assert.is(await sendAll('google', true), 98)
  const warmupBudget = at('google')
  assert.equal([warmupBudget.isSpent(true), warmupBudget.isSpent(false)], [true, false])
  for (let i = 0; i < 2; i++) {
    assert.ok(warmupBudget.allows(false))
    warmupBudget.begin(false)(true)
  }
  assert.is(warmupBudget.isSpent(false), true)
})

test('the next day has its own budget and wakes waiting paths; after the last day there is no limit', async t => {
  const { thread, clock } = await open(t, { caps: [8, 8, 12] })
  const { sendAll, at } = thread()
  assert.is(await sendAll('google', true), 8)
  let woken = 0
  const warmupBudget = at('google', () => {
    woken++
  })
  assert.is(warmupBudget.allows(true), false)
  clock.advance(10 * HOUR_MS)
  assert.is(woken, 0, 'ten hours later it is still the same UTC day')
  clock.advance(HOUR_MS)
  assert.is(woken, 1)
  assert.is(await sendAll('google', true), 12)
  clock.advance(24 * HOUR_MS)
  assert.is(warmupBudget.isSpent(true), false)
  for (let i = 0; i < 1_000; i++) {
    assert.is(warmupBudget.allows(false), true)
    warmupBudget.begin(false)(true)
  }
})

test('all threads, also after a restart, stay within the budget together', async t => {
  const { thread, counts } = await open(t, { caps: [0, 1_000] })
  const [one, two] = [thread(), thread()]
  const sent = await Promise.all([
    one.sendAll('mx.there.test', true),
    two.sendAll('mx.far.test', true),
    one.sendAll('mx.else.test', true),
  ])
  assert.is(
    sent.reduce((sum, count) => sum + count, 0),
    1_000,
  )
  assert.is(await thread().sendAll('mx.there.test', true), 0)
  assert.equal(await counts(), [`${IP} other 1000`])
})

test('unsent messages do not count, and unused grants are returned', async t => {
  const { thread, counts } = await open(t, { caps: [0, 500] })
  const first = thread()
  await first.sendAll('google', true, false)
  assert.equal(await counts(), [`${IP} google 10`], 'granted ten at a time')
  await first.close()
  assert.equal(await counts(), [])
})

test('a store that fails does not block the budget for good', async t => {
  const { thread, errors, breaks, clock } = await open(t)
  const { at } = thread()
  const woken = Promise.withResolvers<void>()
  const warmupBudget = at('google', woken.resolve)
  breaks(true)
  assert.is(warmupBudget.allows(true), false)
  await until(() => errors.length === 1)
  assert.is(warmupBudget.isSpent(true), false)
  breaks(false)
  clock.advance(1_000)
  await woken.promise
  let isGranted = false
  const again = at('google', () => {
    isGranted = true
  })
  assert.is(again.allows(true), false)
  await until(() => isGranted)
  assert.is(again.allows(true), true)
})

test('a source with two addresses needs budget for both', async t => {
  const { thread, run } = await open(t, { ips: [IP, '2001:db8::2'], caps: [0, 8] })
  await run('grantWarmup', {
    address: '2001:db8::2',
    provider: 'google',
    day: '2026-11-21',
    max: 8,
    wanted: 5,
  })
  assert.is(await thread().sendAll('google', true), 3)
})

test('smart hosts and warm addresses have no budget', async t => {
  const { thread } = await open(t, { caps: [1] })
  for (const destination of ['google', 'smart-host', '!there.test']) {
    const warmupBudget = thread().at(destination)
    for (let i = 0; i < 5; i++) {
      assert.is(warmupBudget.allows(false), true)
      warmupBudget.begin(false)(true)
    }
  }
})

test.run()
