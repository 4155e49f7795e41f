import * as assert from 'uvu/assert'
import { RoundRobin } from '../../../src/lib/round-robin.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('round-robin')

function takeAll(waiting: RoundRobin<string>): string {
  const taken: string[] = []
  for (let item = waiting.take(); item !== undefined; item = waiting.take()) taken.push(item)
  return taken.join(' ')
}

test('round robin: owners take turns, and the items of each come in order', () => {
  const waiting = new RoundRobin<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) waiting.add(item[0]!, item)
  assert.equal([waiting.size, waiting.ownerCount, waiting.countOf('a')], [6, 3, 3])
  assert.is(takeAll(waiting), 'a1 b1 c1 a2 b2 a3')
  assert.equal([waiting.size, waiting.ownerCount, waiting.countOf('a')], [0, 0, 0])
})

test('round robin: a new owner waits for one item of each other owner at most', () => {
  const waiting = new RoundRobin<string>()
  for (let i = 0; i < 100; i++) waiting.add('a', `a${i}`)
  waiting.take()
  waiting.add('b', 'b')
  assert.equal([waiting.take(), waiting.take()], ['a1', 'b'])
})

test('round robin: an item that is added first comes before the others of its owner, in the turn of the owner', () => {
  const waiting = new RoundRobin<string>()
  for (const item of ['a1', 'a2', 'b1', 'b2']) waiting.add(item[0]!, item)
  assert.is(waiting.take(), 'a1')
  waiting.addFirst('a', 'a1 again')
  waiting.addFirst('b', 'b0')
  waiting.addFirst('c', 'c1')
  assert.is(waiting.countOf('b'), 3)
  const rest = Array.from({ length: waiting.size }, () => waiting.take())
  assert.equal(rest, ['b0', 'a1 again', 'c1', 'b1', 'a2', 'b2'])
  assert.is(waiting.size, 0)
})

test('round robin: an owner that always has items waiting keeps its order', () => {
  const waiting = new RoundRobin<string>()
  for (let i = 0; i < 10; i++) waiting.add('a', String(i))
  for (let i = 0; i < 5_000; i++) {
    assert.is(waiting.take(), String(i))
    waiting.add('a', String(i + 10))
  }
  assert.is(waiting.size, 10)
})

test.run()
