import * as assert from 'uvu/assert'
import { inOwnMemory } from '../../../src/lib/own-memory.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/own-memory')

test('what is alone in its memory is not copied', () => {
  const bytes = new Uint8Array([1, 2, 3])
  const own = inOwnMemory(bytes)
  assert.is(own.buffer, bytes.buffer)
  assert.equal(own, bytes)
})

test('a part of more is copied, and what it was a part of may change', () => {
  const whole = new Uint8Array([1, 2, 3])
  const own = inOwnMemory(whole.subarray(1))
  whole.fill(9)
  assert.equal(own, new Uint8Array([2, 3]))
  assert.is(own.buffer.byteLength, 2)
})

test.run()
