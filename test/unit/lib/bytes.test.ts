import * as assert from 'uvu/assert'
import { inOwnMemory, packBytes } from '../../../src/lib/bytes.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/bytes')

test('own memory: bytes that fill their buffer are not copied', () => {
  const bytes = new Uint8Array([1, 2, 3])
  const own = inOwnMemory(bytes)
  assert.is(own.buffer, bytes.buffer)
  assert.equal(own, bytes)
})

test('own memory: a part of a buffer is copied and independent of later changes', () => {
  const whole = new Uint8Array([1, 2, 3])
  const own = inOwnMemory(whole.subarray(1))
  whole.fill(9)
  assert.equal(own, new Uint8Array([2, 3]))
  assert.is(own.buffer.byteLength, 2)
})

test('packed bytes: a list of bytes is packed unchanged', () => {
  fc.assert(fc.property(fc.array(fc.nat(255)), list => assert.equal([...packBytes(list)!], list)))
})

for (const value of [256, -1, 0.5, 1e300, -0.1, Number.MAX_SAFE_INTEGER, '1', '', null, undefined, true, [1]])
  test(`packed bytes: a list that contains ${JSON.stringify(value)} is not packed`, () => {
    for (const list of [[value], [1, value, 2], [1, 2, value]]) assert.is(packBytes(list), undefined)
  })

test.run()
