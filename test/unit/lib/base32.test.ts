import * as assert from 'uvu/assert'
import { fromBase32, toBase32 } from '../../../src/lib/base32.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/base32')

test('base32: encodes the examples of RFC 4648 §10 in lower case without padding', () => {
  const examples = {
    '': '',
    f: 'my',
    fo: 'mzxq',
    foo: 'mzxw6',
    foob: 'mzxw6yq',
    fooba: 'mzxw6ytb',
    foobar: 'mzxw6ytboi',
  }
  for (const [plain, encoded] of Object.entries(examples)) {
    assert.is(toBase32(Buffer.from(plain)), encoded)
    assert.is(String(fromBase32(encoded)), plain)
  }
})

test('base32: bytes are decoded unchanged from either case', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
      const text = toBase32(bytes)
      assert.match(text, /^[a-z2-7]*$/)
      assert.equal(new Uint8Array(fromBase32(text)!), bytes)
      assert.equal(new Uint8Array(fromBase32(text.toUpperCase())!), bytes)
    }),
    { seed: 1, numRuns: 300 },
  )
})

test('base32: any other character is refused', () => {
  for (const text of ['0', '1', '8', 'my======', 'm y', 'mü', 'my\n', '💌', 'my-q'])
    assert.is(fromBase32(text), undefined)
})

test('base32: trailing bits that fill no byte are dropped', () => {
  assert.equal(fromBase32('mz'), fromBase32('my'))
  assert.equal(fromBase32('a'), Buffer.alloc(0))
})

test.run()
