import * as assert from 'uvu/assert'
import {
  limitedSpeedWords,
  rateForHours,
  rateWords,
} from '../../../../src/interfaces/dashboard/web/labels/rates.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: rate of a broadcast')

test('emails are spread over hours so that the last is in time', () => {
  assert.equal([rateForHours(1_000, 3), rateForHours(2, 10), rateForHours(0, 4)], [334, 1, 1])
})

test('a rate says how long all emails take, and what is left', () => {
  assert.is(rateWords(500, 10_000), 'At most 500 emails an hour, which takes about 20 hours')
  assert.is(rateWords(600, 45), 'At most 600 emails an hour, which takes about 5 minutes')
  assert.is(rateWords(1, undefined), 'At most 1 email an hour')
  assert.is(limitedSpeedWords(1_200, 1_200), 'At most 1,200 an hour, about 60 minutes left')
  assert.is(limitedSpeedWords(1_200, 0), 'At most 1,200 an hour')
})

test.run()
