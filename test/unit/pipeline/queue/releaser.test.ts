import * as assert from 'uvu/assert'
import { createReleaser } from '../../../../src/pipeline/queue/release.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/release-timer')
type ReleaserRun = Parameters<typeof createReleaser>[0]['run']
const HOUR_MS = 3_600_000

/** A releaser over a store that only knows times. */
async function open(t: TestContext, { times = [] as number[], limit = Number.POSITIVE_INFINITY } = {}) {
  const clock = createManualClock()
  const scheduled = times.map(ms => clock.now() + ms)
  const released: number[] = []
  const requests: number[] = []
  const errors: unknown[] = []
  let failing = false
  const run = async (_: string, { now }: { now: number; limit: number }) => {
    requests.push(now)
    await settled()
    if (failing) throw new Error('the disk is full')
    scheduled.sort((a, b) => a - b)
    for (let i = 0; i < limit && scheduled.length > 0 && scheduled[0]! <= now; i++)
      released.push(scheduled.shift()!)
    return scheduled[0] ?? null
  }
  const releaser = createReleaser({ run: run as ReleaserRun, clock, onError: error => errors.push(error) })
  t.after(() => releaser.stop())
  await settled()
  await settled()
  return {
    clock,
    releaser,
    requests,
    released,
    errors,
    fail: (now: boolean) => {
      failing = now
    },
    schedule(ms: number) {
      scheduled.push(clock.now() + ms)
      releaser.note(clock.now() + ms)
    },
    async advance(ms: number) {
      for (let left = ms; left > 0; left -= 250) {
        clock.advance(Math.min(left, 250))
        await settled()
        await settled()
      }
    },
  }
}

test('release timer: emails that became due before the start are released at the start', async t => {
  const { released, clock } = await open(t, { times: [-HOUR_MS, -1, HOUR_MS] })
  assert.is(released.length, 2)
  assert.is(clock.timerCount, 1)
})

test('release timer: without scheduled emails there is no work', async t => {
  const { clock, requests } = await open(t)
  assert.equal([clock.timerCount, requests.length], [0, 1])
})

test('release timer: an email is released at its time, without polling', async t => {
  const { schedule, advance, released, requests, clock } = await open(t)
  schedule(10_000)
  await advance(9_750)
  assert.equal([released.length, requests.length], [0, 1])
  await advance(250)
  assert.equal([released.length, requests.length, clock.timerCount], [1, 2, 0])
})

test('release timer: the earliest time counts, whatever the order of the notes', async t => {
  const { schedule, advance, released } = await open(t)
  for (const ms of [3_000, 1_000, 2_000]) schedule(ms)
  const counts = []
  for (let i = 0; i < 4; i++) {
    await advance(1_000)
    counts.push(released.length)
  }
  assert.equal(counts, [1, 2, 3, 3])
})

test('release timer: many due emails are released in steps without a pause', async t => {
  const { released, requests } = await open(t, { times: Array(25).fill(-1), limit: 10 })
  await settled()
  for (let i = 0; i < 10; i++) await settled()
  assert.equal([released.length, requests.length], [25, 3])
})

test('release timer: due emails are released within a second after the wall clock jumps forward', async t => {
  const { schedule, advance, released, clock } = await open(t)
  schedule(HOUR_MS)
  clock.jump(HOUR_MS)
  await advance(1_000)
  assert.is(released.length, 1)
})

test('release timer: an email waits for its wall time after the wall clock jumps back', async t => {
  const { schedule, advance, released, clock } = await open(t)
  schedule(2_000)
  clock.jump(-60_000)
  await advance(61_000)
  assert.is(released.length, 0)
  await advance(1_250)
  assert.is(released.length, 1)
})

test('release timer: a time noted during a release is not lost', async t => {
  const { releaser, clock, schedule, advance, released } = await open(t, { times: [1_000] })
  clock.advance(1_000)
  schedule(500)
  releaser.note(clock.now() + HOUR_MS)
  await advance(500)
  assert.is(released.length, 2)
})

test('release timer: a failure is reported and retried', async t => {
  const { schedule, advance, released, errors, fail } = await open(t)
  fail(true)
  schedule(1_000)
  await advance(3_000)
  assert.is(released.length, 0)
  assert.ok(errors.length >= 1 && errors.length <= 3)
  fail(false)
  await advance(1_250)
  assert.is(released.length, 1)
})

test('release timer: after stop nothing is released and no timer runs', async t => {
  const { schedule, releaser, advance, requests, clock } = await open(t)
  schedule(1_000)
  await releaser.stop()
  schedule(500)
  await advance(5_000)
  assert.equal([requests.length, clock.timerCount], [1, 0])
})

test.run()
