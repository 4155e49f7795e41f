import * as assert from 'uvu/assert'
import { copiedName, copyName } from '../../../src/lib/copy-name.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('names of copies')
const LENGTH_MAX = 20

for (const [name, copy] of [
  ['June', 'June (copy)'],
  ['June (copy)', 'June (copy 2)'],
  ['June (copy 9)', 'June (copy 10)'],
  ['June and July and August', 'June and July (copy)'],
] as const)
  test(`a copy of "${name}" is named "${copy}"`, () => {
    assert.is(copyName(name, LENGTH_MAX), copy)
  })

test('the name of a copy tells what was copied', () => {
  assert.equal(['June', 'June (copy)', 'June (copy 2)'].map(copiedName), ['June', 'June', 'June'])
})

test.run()
