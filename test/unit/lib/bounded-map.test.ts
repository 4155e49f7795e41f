import * as assert from 'uvu/assert'
import { BoundedMap } from '../../../src/lib/bounded-map.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/bounded-map')

/** A map that counts how often its first entries are sought. */
class Counting extends BoundedMap<number, true> {
  soughtCount = 0
  override keys() {
    this.soughtCount++
    return super.keys()
  }
}

for (const limit of [1, 2, 16, 17, 1_000, 50_000])
  test(`bounded map: a map of ${limit} entries keeps the newest, and the oldest are sought rarely`, () => {
    const map = new Counting(limit)
    let largest = 0
    for (let key = 0; key < 3 * limit; key++) {
      map.set(key, true)
      largest = Math.max(largest, map.size)
    }
    assert.is(largest, limit)
    assert.ok(map.soughtCount <= Math.min(2 * limit, 2 * 16), String(map.soughtCount))
    const remaining = [...map.keys()]
    assert.equal([remaining[0], remaining.at(-1)], [3 * limit - remaining.length, 3 * limit - 1])
    assert.ok(remaining.length > (limit * 15) / 16 - 1, String(remaining.length))
  })

test('bounded map: an entry that is set again is the newest, and takes no further place', () => {
  const map = new BoundedMap<string, number>(2)
  for (const [value, key] of ['a', 'b', 'a', 'c'].entries()) map.set(key, value)
  assert.equal(
    [...map],
    [
      ['a', 2],
      ['c', 3],
    ],
  )
})

test.run()
