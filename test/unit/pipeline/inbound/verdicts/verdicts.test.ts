import { BroadcastChannel } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { createLog } from '../../../../../src/lib/log.ts'
import { createVerdicts } from '../../../../../src/pipeline/inbound/verdicts/verdicts.ts'
import type { StoreLocation } from '../../../../../src/store/opening/dialect.ts'
import { createManualClock, type ManualClock } from '../../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'
import { envelope, HOST, NO_FILTERS } from './scene.ts'

const test = suite('verdicts/verdicts')
const FAILED = ['PROCESSING_FAILED', 'PROCESSING_FAILED', 'PROCESSING_FAILED', 'PROCESSING_FAILED']

async function start(t: TestContext, clock: ManualClock) {
  const verdicts = await t.using(
    createVerdicts({
      entry: new URL('./scripted-thread.ts', import.meta.url),
      // of no store: the scripted thread opens none
      location: {} as StoreLocation,
      mailHost: HOST,
      resolvers: [],
      filters: { ...NO_FILTERS, clamd: { path: '/nowhere' } },
      logLevel: 'fatal',
      clock,
      log: createLog('fatal'),
    }),
  )
  return {
    close: verdicts.close,
    judge: (mailFrom: string) =>
      verdicts.judge({ ...envelope({ mailFrom }), blobHash: new Uint8Array(32), bytes: null }),
  }
}

test('what the thread finds is told', async t => {
  const { judge } = await start(t, createManualClock())
  const { detail } = await judge('ann@here.test')
  assert.is(detail.spf.reason, 'judged 1 on this thread')
})

for (const [mailFrom, reason] of [
  ['dies', /has ended/],
  ['throws', /as the test wants it/],
] as const)
  test(`a message by which the thread ${mailFrom} has no verdict, and the next has its own`, async t => {
    const { judge } = await start(t, createManualClock())
    const { spf, dkim, spam, virus, detail, authenticationResults } = await judge(mailFrom)
    assert.equal([spf, dkim, spam, virus], FAILED)
    assert.match(detail.spam.reason!, reason)
    assert.match(authenticationResults, /^mail\.mailhorn\.test;\r\n spf=temperror reason=/)
    assert.match((await judge('ann@here.test')).detail.spf.reason!, /^judged /)
  })

/** The channel on which the scripted thread says that it is busy. */
function busyChannel(t: TestContext): BroadcastChannel {
  const channel = new BroadcastChannel('busy')
  t.after(() => channel.close())
  return channel
}

/** Waits until a thread is busy, and moves the clock until it is found blocked. */
async function untilFoundBlocked(clock: ManualClock, busy: BroadcastChannel) {
  await new Promise(resolve => {
    busy.onmessage = resolve
  })
  clock.advance(1_000)
  clock.advance(10_000)
}

test('a message that keeps the thread busy costs one thread and 11 s; those beside it are judged on the next', async t => {
  const clock = createManualClock()
  const { judge } = await start(t, clock)
  const channel = busyChannel(t)
  const before = judge('slow')
  const busy = judge('busy')
  const beside = [judge('ann@here.test'), judge('bob@here.test')]
  await untilFoundBlocked(clock, channel)
  const { spf, virus, detail } = await busy
  assert.equal([spf, virus], ['PROCESSING_FAILED', 'PROCESSING_FAILED'])
  assert.match(detail.virus.reason!, /kept their thread busy for 10 s/)
  for (const other of [before, ...beside])
    assert.match((await other).detail.spf.reason!, /^judged [1-3] on this thread$/)
  await until(() => clock.timerCount === 0)
})

test('messages beside three that block their threads unmarked are given up, and the next message is judged', async t => {
  const clock = createManualClock()
  const { judge } = await start(t, clock)
  const channel = busyChannel(t)
  const busy = judge('unmarked busy')
  const beside = judge('ann@here.test')
  for (let round = 0; round < 3; round++) await untilFoundBlocked(clock, channel)
  for (const given of [busy, beside]) assert.match((await given).detail.spam.reason!, /has ended/)
  assert.is((await judge('ann@here.test')).detail.spf.reason, 'judged 1 on this thread')
})

test('a thread that answers is not ended, however long a message waits for DNS', async t => {
  const clock = createManualClock()
  const { judge } = await start(t, clock)
  const waiting = judge('waits')
  for (let second = 1; second < 40; second++) {
    clock.advance(1_000)
    await until(() => clock.timerCount === 2)
    const next = await judge('ann@here.test')
    assert.is(next.detail.spf.reason, `judged ${second + 1} on this thread`)
  }
  clock.advance(1_000)
  assert.match((await waiting).detail.spam.reason!, /no verdict within 40 s/)
  assert.is((await judge('ann@here.test')).detail.spf.reason, 'judged 41 on this thread')
})

test('what is under way when it is closed has no verdict', async t => {
  const { judge, close } = await start(t, createManualClock())
  const waiting = judge('waits')
  await close()
  assert.is((await waiting).spf, 'PROCESSING_FAILED')
})

test.run()
