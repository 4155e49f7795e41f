import * as assert from 'uvu/assert'
import { JoinedBytes } from '../../../src/lib/joined-bytes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('joined-bytes')

for (const size of [1, 3, 511, 512, 513, 5_000])
  test(`pieces of ${size} bytes are joined unchanged`, () => {
    const whole = Buffer.from(Array.from({ length: 20_000 }, (_, at) => at % 251))
    const joined = new JoinedBytes()
    for (let at = 0; at < whole.length; at += size) joined.add(whole.subarray(at, at + size))
    assert.is(joined.length, whole.length)
    assert.ok(joined.view().equals(whole))
    assert.ok(joined.take().equals(whole))
    assert.is(joined.length, 0)
  })

test('bytes that were taken stay as they are', () => {
  const joined = new JoinedBytes()
  joined.add(Buffer.from('one'))
  const taken = joined.take()
  joined.add(Buffer.from('two'))
  assert.is(`${taken} ${joined.take()}`, 'one two')
  joined.add(new Uint8Array())
  assert.is(joined.take().length, 0)
})

test('a byte is copied a constant number of times, whatever the size of its piece', () => {
  const { set } = Uint8Array.prototype
  let copied = 0
  Uint8Array.prototype.set = function (source, at) {
    copied += source.length
    return set.call(this, source, at)
  }
  const joined = new JoinedBytes()
  try {
    for (let i = 0; i < 100_000; i++) joined.add(Buffer.of(i))
  } finally {
    Uint8Array.prototype.set = set
  }
  assert.ok(copied < 400_000, `${copied} bytes copied`)
})

test.run()
