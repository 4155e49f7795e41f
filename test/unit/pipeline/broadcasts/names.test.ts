import * as assert from 'uvu/assert'
import { nameAfter } from '../../../../src/pipeline/broadcasts/names.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('names of broadcasts')

for (const [name, after] of [
  ['Summer prices', 'Autumn prices'],
  ['Summer prices (copy)', 'Autumn prices'],
  ['Summer prices (copy 2)', 'Autumn prices'],
  ['', 'Autumn prices'],
  ['Newsletter 7', 'Newsletter 7'],
  ['Newsletter 7 (copy)', 'Newsletter 7 (copy)'],
] as const)
  test(`"${name}" is "${after}" once the subject "Summer prices" is "Autumn prices"`, () => {
    assert.is(nameAfter(name, 'Summer prices', 'Autumn prices'), after)
  })

test.run()
