import * as assert from 'uvu/assert'
import { FairQueue } from '../../../src/lib/fair-queue.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/fair-queue')
const ANY = () => true

function order(jobs: readonly [owner: string, cost: number][]): string[] {
  const queue = new FairQueue<string>()
  for (const [i, [owner, cost]] of jobs.entries()) queue.add(owner, cost, `${owner}${i}`)
  return jobs.map(() => queue.take(ANY)!)
}

test('jobs of one owner keep their order when they cost the same', () =>
  assert.equal(
    order([
      ['a', 1],
      ['a', 1],
      ['a', 1],
    ]),
    ['a0', 'a1', 'a2'],
  ))

test('owners with equal jobs take turns', () =>
  assert.equal(
    order([
      ['a', 5],
      ['a', 5],
      ['b', 5],
      ['b', 5],
    ]),
    ['a0', 'b2', 'a1', 'b3'],
  ))

test('a small job comes before large ones that came earlier', () =>
  assert.equal(
    order([
      ['a', 100],
      ['b', 90],
      ['c', 1],
    ]),
    ['c2', 'b1', 'a0'],
  ))

test('an owner of many small jobs does not keep another from its large one for ever', () => {
  const queue = new FairQueue<string>()
  queue.add('large', 10, 'large')
  const taken: string[] = []
  for (let i = 0; i < 30; i++) {
    queue.add('small', 1, 'small')
    taken.push(queue.take(ANY)!)
  }
  assert.is(taken.indexOf('large'), 9)
})

test('a job that may not begin is passed over, and stays', () => {
  const queue = new FairQueue<string>()
  queue.add('a', 1, 'first')
  queue.add('b', 2, 'second')
  assert.is(
    queue.take(item => item === 'second'),
    'second',
  )
  assert.is(
    queue.take(() => false),
    undefined,
  )
  assert.is(queue.take(ANY), 'first')
  assert.is(queue.size, 0)
})

test.run()
