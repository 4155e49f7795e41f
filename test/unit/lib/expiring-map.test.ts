import * as assert from 'uvu/assert'
import { createExpiringMap, keepUnlessFailed } from '../../../src/lib/expiring-map.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/expiring-map')

function open() {
  const clock = createManualClock()
  return { clock, map: createExpiringMap<number>(clock, { ttlMs: 1_000, maxEntries: 2 }) }
}

test('expiring map: an entry lives for its time, which restarts when it is set again', () => {
  const { clock, map } = open()
  map.set('a', 1)
  clock.advance(999)
  assert.is(map.get('a'), 1)
  map.set('a', 2)
  clock.advance(999)
  assert.is(map.get('a'), 2)
  clock.advance(1)
  assert.is(map.get('a'), undefined)
})

test('expiring map: a full map drops the oldest entry', () => {
  const { map } = open()
  for (const [value, key] of ['a', 'b', 'a', 'c'].entries()) map.set(key, value)
  assert.equal(['a', 'b', 'c'].map(map.get), [2, undefined, 3])
})

test('expiring map: an entry may have a different time to live', () => {
  const { clock, map } = open()
  map.set('a', 1, 100)
  map.set('b', 2)
  clock.advance(100)
  assert.equal(['a', 'b'].map(map.get), [undefined, 2])
})

test('expiring map: a look-up is cached from its start unless it fails, and a newer one stays', async () => {
  const remaining = createExpiringMap<Promise<number>>(createManualClock(), { ttlMs: 1_000, maxEntries: 2 })
  const [good, bad, late] = [
    Promise.resolve(1),
    Promise.reject(new Error('no')),
    Promise.reject(new Error('no')),
  ]
  assert.is(keepUnlessFailed(remaining, 'a', good), good)
  keepUnlessFailed(remaining, 'b', bad)
  assert.equal(['a', 'b'].map(remaining.get), [good, bad])
  await bad.catch(() => {})
  assert.equal(['a', 'b'].map(remaining.get), [good, undefined])
  keepUnlessFailed(remaining, 'a', late)
  keepUnlessFailed(remaining, 'a', good)
  await late.catch(() => {})
  assert.is(remaining.get('a'), good)
})

test('expiring map: entries are deleted singly or all at once', () => {
  const { map } = open()
  const known = () => ['a', 'b'].map(map.get)
  map.set('a', 1)
  map.set('b', 2)
  map.delete('a')
  assert.equal(known(), [undefined, 2])
  map.clear()
  assert.equal(known(), [undefined, undefined])
})

test.run()
