import * as assert from 'uvu/assert'
import { Slab } from '../../../src/lib/slab.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/under-way')

test('slab: an item is found by its number until it is taken out', () => {
  const underWay = new Slab<{ name: string }>()
  const first = underWay.put({ name: 'first' })
  const second = underWay.put({ name: 'second' })
  assert.is(underWay.size, 2)
  assert.equal(underWay.at(second), { name: 'second' })
  assert.equal(underWay.take(first), { name: 'first' })
  assert.equal([underWay.at(first), underWay.take(first)], [undefined, undefined])
  assert.equal([...underWay], [{ name: 'second' }])
  assert.equal(underWay.take(second), { name: 'second' })
  assert.is(underWay.size, 0)
})

test('slab: an unknown or free number takes nothing out', () => {
  const underWay = new Slab<object>()
  underWay.put({})
  for (const number of [1, -1, 0.5]) assert.is(underWay.take(number), undefined)
  assert.is(underWay.size, 1)
})

test('slab: numbers are reused, so that memory is bounded by the number of items at one time', () => {
  const underWay = new Slab<object>()
  const numbers = new Set<number>()
  for (let round = 0; round < 1_000; round++) {
    const three = [{}, {}, {}].map(member => underWay.put(member))
    for (const number of three) {
      numbers.add(number)
      underWay.drop(number)
    }
  }
  assert.is(numbers.size, 3)
})

test('slab: all items can be taken out at once, and more added afterwards', () => {
  const underWay = new Slab<object>()
  const [a, b, c] = [{ a: 1 }, { b: 2 }, { c: 3 }]
  const number = underWay.put(a)
  underWay.put(b)
  underWay.take(number)
  assert.equal(underWay.takeAll(), [b])
  assert.equal([underWay.size, ...underWay], [0])
  underWay.put(c)
  assert.equal([underWay.size, ...underWay], [1, c])
})

test('slab: items may be taken out during iteration', () => {
  const underWay = new Slab<{ number: number }>()
  for (let i = 0; i < 5; i++) {
    const member = { number: -1 }
    member.number = underWay.put(member)
  }
  const seen: number[] = []
  for (const { number } of underWay) {
    seen.push(number)
    underWay.take(number)
  }
  assert.equal([underWay.size, ...seen], [0, 0, 1, 2, 3, 4])
})

test('slab: any sequence of operations behaves like a map by number', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 200 }), steps => {
      const underWay = new Slab<{ step: number }>()
      const expected = new Map<number, { step: number }>()
      for (const [step, number] of steps.entries())
        if (number === null) {
          const member = { step }
          const input = underWay.put(member)
          assert.not(expected.has(input))
          expected.set(input, member)
        } else {
          assert.is(underWay.take(number), expected.get(number))
          expected.delete(number)
        }
      assert.is(underWay.size, expected.size)
      assert.equal(new Set(underWay), new Set(expected.values()))
    }),
  )
})

test.run()
