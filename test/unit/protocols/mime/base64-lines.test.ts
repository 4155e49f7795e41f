import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import { base64LinesSize, writeBase64Lines } from '../../../../src/protocols/mime/base64-lines.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/base64-lines')

for (const octets of [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 57 * 256 - 1, 57 * 256, 57 * 256 + 1, 100_000])
  test(`${octets} octets come back, in lines of 76`, () => {
    const content = randomBytes(octets)
    const encoded = encode(content)
    const lines = encoded.split('\r\n')
    assert.ok(Buffer.from(lines.join(''), 'base64').equals(content))
    for (const line of lines.slice(0, -1)) assert.is(line.length, 76)
    assert.ok(lines.at(-1)!.length <= 76)
    if (octets > 0) assert.ok(lines.at(-1)!.length > 0)
  })

test('writes where it is told to, and nothing beside', () => {
  const out = Buffer.alloc(8, '#')
  assert.is(writeBase64Lines(Buffer.from('abc'), out, 2), 6)
  assert.is(`${out}`, '##YWJj##')
})

test('takes a view into a larger buffer for what it is', () => {
  assert.is(encode(new Uint8Array(Buffer.from('xabcx')).subarray(1, 4)), 'YWJj')
})

function encode(content: Uint8Array): string {
  const size = base64LinesSize(content.length)
  const out = Buffer.alloc(size)
  assert.is(writeBase64Lines(content, out, 0), size)
  return out.toString('latin1')
}

test.run()
