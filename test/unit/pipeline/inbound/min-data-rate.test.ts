import * as assert from 'uvu/assert'
import { MinDataRate } from '../../../../src/pipeline/inbound/min-data-rate.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/min-data-rate')

/** Looked at every two seconds, as the listener does. */
function setUp({ isBusy = false } = {}) {
  let now = 0
  let isHeldUp = false
  const transfer = new MinDataRate(now, { netblock: '192.0.2', isHeldUp: () => isHeldUp, stop: () => {} })
  /** So many seconds with so many bytes in each. @returns whether it was ever too slow */
  const seconds = (count: number, bytes: number) => {
    let isSlow = false
    for (let i = 0; i < count; i++) {
      transfer.add(bytes)
      now += 1_000
      if (now % 2_000 === 0 && transfer.isTooSlow(now, isBusy)) isSlow = true
    }
    return isSlow
  }
  return {
    seconds,
    rate: () => transfer.bytesPerSecond(now),
    holdUp: (value: boolean) => {
      isHeldUp = value
    },
  }
}

test('minimum data rate: 1 byte/s is too slow after one minute', () => {
  const { seconds } = setUp()
  assert.equal([seconds(58, 1), seconds(2, 1)], [false, true])
})

test('minimum data rate: 1 KB/s is always fast enough without load', () => {
  const { seconds } = setUp()
  assert.not(seconds(1_800, 1_024))
  assert.ok(seconds(60, 1_023))
})

test('minimum data rate: under load 4 KB/s are required over ten seconds', () => {
  const { seconds } = setUp({ isBusy: true })
  assert.not(seconds(600, 4_096))
  assert.equal([seconds(8, 4_095), seconds(2, 4_095)], [false, true])
})

test('minimum data rate: time in which the client waits for the server does not count', () => {
  const { seconds, holdUp } = setUp({ isBusy: true })
  assert.not(seconds(8, 5_000))
  holdUp(true)
  assert.not(seconds(100, 0))
  holdUp(false)
  assert.not(seconds(10, 5_000))
})

test('the rate is measured over the last 20 s', () => {
  const { seconds, rate } = setUp()
  seconds(1, 1_000_000)
  assert.is(rate(), 1_000_000)
  seconds(39, 2_000)
  assert.is(rate(), 2_000)
})

test.run()
