import * as assert from 'uvu/assert'
import { shortened } from '../../../src/lib/shortened.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/shortened')

test('a text that fits stays, and a longer one is cut and marked', () => {
  assert.is(shortened('four', 4), 'four')
  assert.is(shortened('fiver', 4), 'five…')
  assert.is(shortened('ab😀', 3), 'ab\ufffd…', 'no half of a character is left')
})

test.run()
