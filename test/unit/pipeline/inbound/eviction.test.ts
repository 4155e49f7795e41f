import * as assert from 'uvu/assert'
import { slowestOfLargest } from '../../../../src/pipeline/inbound/eviction.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/eviction')

const one = (netblock: string, bytesPerSecond = 0, since = 0) => ({ netblock, bytesPerSecond, since })

test('of nobody, nobody is chosen', () => {
  assert.is(slowestOfLargest([]), undefined)
})

test('the netblock with the most candidates gives one up, its slowest, even if another is slower', () => {
  const slowest = one('b', 7)
  assert.is(slowestOfLargest([one('a', 1), one('b', 9), slowest, one('c', 0)]), slowest)
})

test('among equals it is the one without progress for the longest time', () => {
  const oldest = one('b', 5, 1)
  assert.is(slowestOfLargest([one('a', 5, 2), oldest, one('c', 5, 3)]), oldest)
})

test.run()
