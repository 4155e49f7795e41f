import * as assert from 'uvu/assert'
import { largeInputBytes, memoryWithin, searchCacheCharacters } from '../../../src/lib/machine-memory.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/machine-memory')
const MIB = 1024 * 1024

test('the limit of a control group counts where there is one', () => {
  assert.is(memoryWithin(512 * MIB, 2_048 * MIB), 512 * MIB)
  assert.is(memoryWithin(0, 2_048 * MIB), 2_048 * MIB)
  assert.is(memoryWithin(2 ** 63, 2_048 * MIB), 2_048 * MIB)
})

for (const [machine, large] of [
  [256, 32],
  [512, 32],
  [1_147, 99],
  [2_056, 200],
  [65_536, 480],
] as const)
  test(`of ${machine} MB, large bodies and messages get ${large} MB`, () => {
    assert.is(largeInputBytes(machine * MIB), large * MIB)
  })

for (const [machine, characters] of [
  [128, 8],
  [512, 16],
  [1_024, 32],
  [65_536, 128],
] as const)
  test(`of ${machine} MB, searching caches ${characters} M characters`, () => {
    assert.is(searchCacheCharacters(machine * MIB), characters * MIB)
  })

test.run()
