import * as assert from 'uvu/assert'
import { hashText } from '../../../src/lib/hash.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/hash')

test('the hash is FNV-1a of 32 bits', () => {
  assert.equal(['', 'a', 'foobar'].map(hashText), [0x811c9dc5, 0xe40c292c, 0xbf9cf968])
})

test('names like those of domains are spread evenly over a few places', () => {
  for (const places of [2, 3, 4, 8]) {
    const counts = new Array(places).fill(0)
    for (let i = 0; i < 10_000; i++) counts[hashText(`mx${i % 10}.domain${i}.example`) % places]++
    for (const count of counts)
      assert.ok(Math.abs(count - 10_000 / places) < 1_000 / places + 200, String(counts))
  }
})

test.run()
