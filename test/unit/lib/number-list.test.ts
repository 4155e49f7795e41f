import * as assert from 'uvu/assert'
import { packBytes, packNumbers } from '../../../src/lib/number-list.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/number-list')

test('a list of bytes is packed as it is', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(255)), list => {
      assert.equal([...packBytes(list)!], list)
      assert.ok(packNumbers(list) instanceof Uint8Array)
    }),
  )
})

for (const value of [256, -1, 0.5, 1e300, -0.1, Number.MAX_SAFE_INTEGER, '1', '', null, undefined, true, [1]])
  test(`${JSON.stringify(value)} is no byte, wherever it stands`, () => {
    for (const list of [[value], [1, value, 2], [1, 2, value]]) assert.is(packBytes(list), undefined)
  })

test('other numbers are packed as numbers, and what is no number not at all', () => {
  assert.equal(packNumbers([1, 256, -0.5]), Float64Array.of(1, 256, -0.5))
  for (const value of ['1', null, true, {}, []]) assert.is(packNumbers([1, 256, value]), undefined)
})

test.run()
