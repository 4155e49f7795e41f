import * as assert from 'uvu/assert'
import { NAME_LENGTH_MAX, nameAfter, nameOfCopy } from '../../../../src/pipeline/broadcasts/names.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('names of broadcasts')

for (const [name, copy] of [
  ['June', 'June (copy)'],
  ['June (copy)', 'June (copy)'],
  ['', ''],
] as const)
  test(`a duplicate of "${name}" is named "${copy}"`, () => {
    assert.is(nameOfCopy(name), copy)
  })

test('the name of a duplicate is not longer than a name may be', () => {
  const copy = nameOfCopy('x'.repeat(NAME_LENGTH_MAX))
  assert.equal([copy.length, copy.endsWith('x (copy)')], [NAME_LENGTH_MAX, true])
})

for (const [name, after] of [
  ['Summer prices', 'Autumn prices'],
  ['Summer prices (copy)', 'Autumn prices'],
  ['', 'Autumn prices'],
  ['Newsletter 7', 'Newsletter 7'],
  ['Newsletter 7 (copy)', 'Newsletter 7 (copy)'],
] as const)
  test(`"${name}" is "${after}" once the subject "Summer prices" is "Autumn prices"`, () => {
    assert.is(nameAfter(name, 'Summer prices', 'Autumn prices'), after)
  })

test.run()
