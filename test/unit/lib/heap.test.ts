import * as assert from 'uvu/assert'
import { createHeap } from '../../../src/lib/heap.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/heap')

function drained<T>(heap: { pop(): T | undefined }): T[] {
  const items: T[] = []
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) items.push(item)
  return items
}

test('heap: the smallest item comes first, whatever the order of the pushes', () => {
  const heap = createHeap<number>(n => n)
  for (const n of [5, 1, 4, 1, 5, 9, 2, 6]) heap.push(n)
  assert.equal(drained(heap), [1, 1, 2, 4, 5, 5, 6, 9])
})

test('heap: peek removes nothing', () => {
  const heap = createHeap<string>(text => text.length)
  assert.is(heap.peek(), undefined)
  heap.push('long')
  heap.push('a')
  assert.equal([heap.peek(), heap.peek(), heap.size], ['a', 'a', 2])
})

test('heap: an empty heap returns undefined', () => {
  const heap = createHeap<number>(n => n)
  assert.is(heap.pop(), undefined)
  heap.push(1)
  assert.equal([heap.pop(), heap.pop(), heap.size], [1, undefined, 0])
})

test('heap: any mixture of pushes and pops behaves like a sorted list', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer()), { maxLength: 200 }), steps => {
      const heap = createHeap<number>(n => n)
      const sorted: number[] = []
      for (const step of steps) {
        if (step === null) assert.is(heap.pop(), sorted.shift())
        else {
          heap.push(step)
          sorted.push(step)
          sorted.sort((a, b) => a - b)
        }
        assert.equal([heap.size, heap.peek()], [sorted.length, sorted[0]])
      }
      assert.equal(drained(heap), sorted)
    }),
    { seed: 20261121, numRuns: 300 },
  )
})

test.run()
