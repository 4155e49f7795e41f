import * as assert from 'uvu/assert'
import { createFairSemaphore, type FairSemaphore } from '../../../src/lib/fair-semaphore.ts'
import { TooManyWaiting } from '../../../src/lib/semaphore.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/fair-slots')

/** Everybody who asked, in the order in which they were let in. */
function watched(slots: FairSemaphore) {
  const inside: string[] = []
  const leave = new Map<string, () => void>()
  return {
    inside,
    leave: (name: string) => leave.get(name)!(),
    ask(name: string, owner = name) {
      slots.take(owner).then(give => {
        inside.push(name)
        leave.set(name, give)
      })
    },
  }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

test('so many are let in, the others in their order as places come free', async () => {
  const { inside, ask, leave } = watched(createFairSemaphore(2, 2))
  for (const name of ['a', 'b', 'c', 'd']) ask(name)
  await settled()
  assert.equal(inside, ['a', 'b'])
  leave('b')
  await settled()
  assert.equal(inside, ['a', 'b', 'c'])
  leave('a')
  leave('c')
  await settled()
  assert.equal(inside, ['a', 'b', 'c', 'd'])
})

test('an owner who has its share waits, and holds up nobody else', async () => {
  const { inside, ask, leave } = watched(createFairSemaphore(3, 1))
  for (const name of ['greedy-1', 'greedy-2', 'greedy-3']) ask(name, 'greedy')
  ask('modest')
  await settled()
  assert.equal(inside, ['greedy-1', 'modest'])
  leave('greedy-1')
  await settled()
  assert.equal(inside, ['greedy-1', 'modest', 'greedy-2'])
})

test('a place is given back once, however often it is said', async () => {
  const { inside, ask, leave } = watched(createFairSemaphore(1, 1))
  for (const name of ['a', 'b', 'c']) ask(name)
  await settled()
  leave('a')
  leave('a')
  await settled()
  assert.equal(inside, ['a', 'b'])
})

test('an owner beyond its number of waiting ones is told so at once, others may wait', async () => {
  const slots = createFairSemaphore(1, 1, { mostOfAnOwner: 2 })
  const leave = await slots.take('greedy')
  const second = slots.take('greedy')
  const third = slots.take('greedy')
  const other = slots.take('modest')
  const refused = await slots.take('greedy').catch(error => error)
  assert.instance(refused, TooManyWaiting)
  leave()
  ;(await second)()
  ;(await third)()
  ;(await other)()
  ;(await slots.take('greedy'))()
})

test.run()
