import * as assert from 'uvu/assert'
import { createGuessGuard } from '../../../src/accounts/guess-guard.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('accounts/guess-guard')
const MINUTE_MS = 60_000

function openGuard() {
  const clock = createManualClock()
  const guard = createGuessGuard(clock)
  const guess = (right: boolean, key = 'key') => guard.hear(key, async () => right)
  return {
    clock,
    guard,
    succeed: (key?: string) => guess(true, key),
    async fail(times: number, key?: string) {
      for (let i = 0; i < times; i++) assert.equal(await guess(false, key), { kind: 'wrong' })
    },
    /** Ms until a guess is heard; asking costs nothing while it is not, and counts as a wrong one when it is. */
    async wait(key?: string) {
      const verdict = await guess(false, key)
      return verdict.kind === 'too-many' ? verdict.waitMs : 0
    },
  }
}

test('four wrong guesses are free, the fifth costs a minute', async () => {
  const { fail, wait } = openGuard()
  await fail(5)
  assert.is(await wait(), MINUTE_MS)
})

test('a right guess is right after four wrong ones, and has to wait after five', async () => {
  const { fail, succeed } = openGuard()
  await fail(4)
  assert.equal(await succeed(), { kind: 'right' })
  await fail(5)
  assert.equal(await succeed(), { kind: 'too-many', waitMs: MINUTE_MS })
})

test('a guess that has to wait is not even looked at', async () => {
  const { guard, fail } = openGuard()
  await fail(5)
  let looked = false
  await guard.hear('key', async () => {
    looked = true
    return true
  })
  assert.not(looked)
})

test('each further wrong guess doubles the wait, up to fifteen minutes', async () => {
  const { fail, wait, clock } = openGuard()
  await fail(4)
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    await fail(1)
    const ms = await wait()
    waits.push(ms / MINUTE_MS)
    clock.advance(ms - 1)
    assert.is(await wait(), 1)
    clock.advance(1)
  }
  assert.equal(waits, [1, 2, 4, 8, 15, 15, 15, 15])
})

test('the wait runs down with the clock, and wall time does not matter', async () => {
  const { fail, wait, clock } = openGuard()
  await fail(5)
  clock.advance(20_000)
  assert.is(await wait(), 40_000)
  clock.jump(3_600_000)
  assert.is(await wait(), 40_000)
})

test('a right guess makes good all wrong ones', async () => {
  const { fail, succeed, clock } = openGuard()
  await fail(5)
  clock.advance(MINUTE_MS)
  await succeed()
  await fail(5)
})

test('other keys are not concerned', async () => {
  const { fail, succeed } = openGuard()
  await fail(5)
  assert.equal(await succeed('another'), { kind: 'right' })
})

test('guesses made at once are five, not more', async () => {
  const { guard } = openGuard()
  const verdicts = await Promise.all(
    Array.from({ length: 30 }, (_, i) => guard.hear('key', async () => i === 29)),
  )
  assert.equal(
    verdicts.map(({ kind }) => kind),
    [...Array(5).fill('wrong'), ...Array(25).fill('too-many')],
  )
})

test('a check that fails by itself is no wrong guess', async () => {
  const { guard, fail } = openGuard()
  await fail(4)
  const error = await guard.hear('key', () => Promise.reject(new Error('busy'))).catch(reason => reason)
  assert.is(error.message, 'busy')
  await fail(1)
})

test('of very many keys the oldest are forgotten, and one that fails again counts as new', async () => {
  const { fail, succeed, clock } = openGuard()
  await fail(5, 'first')
  await fail(5, 'second')
  clock.advance(MINUTE_MS)
  for (let i = 0; i < 9_998; i++) await fail(1, `key ${i}`)
  await fail(1, 'first')
  await fail(1, 'one more')
  assert.is((await succeed('first')).kind, 'too-many')
  await fail(4, 'second')
  assert.equal(await succeed('second'), { kind: 'right' })
  assert.is(clock.timerCount, 0)
})

test.run()
