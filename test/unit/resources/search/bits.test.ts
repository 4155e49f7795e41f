import * as assert from 'uvu/assert'
import {
  decodeOrdinals,
  encodedLength,
  encodeOrdinals,
  ordinalsIn,
} from '../../../../src/resources/search/bits.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('search/bits')

for (const [form, ordinals, size, bytes] of [
  ['a list', [0, 7, 255, 256, 1_000, 65_535], 65_536, 13],
  ['a bit set', Array.from({ length: 700 }, (_, i) => i), 1_000, 126],
  ['nothing', [], 10, 1],
] as const)
  test(`ordinals are stored as ${form} and read again`, () => {
    const stored = new Uint8Array(encodedLength(ordinals.length, size))
    assert.is(stored.length, bytes)
    encodeOrdinals(ordinals, stored)
    assert.equal(ordinalsIn(decodeOrdinals(stored, size)), [...ordinals])
  })

test.run()
