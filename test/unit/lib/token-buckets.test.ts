import * as assert from 'uvu/assert'
import { TokenBuckets } from '../../../src/lib/token-buckets.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/token-buckets')

test('token buckets: each key begins full, is emptied alone, and refills with time', () => {
  const clock = createManualClock()
  const buckets = new TokenBuckets(clock, 10, 2)
  assert.equal([buckets.take('a', 8), buckets.take('a', 3), buckets.take('a', 2)], [2, undefined, 0])
  assert.is(buckets.take('b', 1), 9, 'another key has a bucket of its own')
  clock.advance(1_500)
  assert.equal([buckets.take('a', 4), buckets.take('a', 3)], [undefined, 0])
  clock.advance(60_000)
  assert.is(buckets.take('a', 10), 0, 'a bucket holds no more than its capacity')
})

test('token buckets: tokens in reserve are taken only by those who may', () => {
  const buckets = new TokenBuckets(createManualClock(), 10, 2)
  assert.equal([buckets.take('a', 6, 5), buckets.take('a', 5, 5), buckets.take('a', 5)], [undefined, 5, 0])
})

test.run()
