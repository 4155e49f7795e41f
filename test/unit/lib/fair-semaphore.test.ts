import * as assert from 'uvu/assert'
import { FairSemaphore } from '../../../src/lib/fair-semaphore.ts'
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

test('fair semaphore: callers are admitted up to the limit, the others in order', async () => {
  const { inside, ask, leave } = watched(new FairSemaphore(2, 2))
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

test('fair semaphore: an owner at its share waits and blocks no other owner', async () => {
  const { inside, ask, leave } = watched(new FairSemaphore(3, 1))
  for (const name of ['greedy-1', 'greedy-2', 'greedy-3']) ask(name, 'greedy')
  ask('modest')
  await settled()
  assert.equal(inside, ['greedy-1', 'modest'])
  leave('greedy-1')
  await settled()
  assert.equal(inside, ['greedy-1', 'modest', 'greedy-2'])
})

test('fair semaphore: releasing twice releases once', async () => {
  const { inside, ask, leave } = watched(new FairSemaphore(1, 1))
  for (const name of ['a', 'b', 'c']) ask(name)
  await settled()
  leave('a')
  leave('a')
  await settled()
  assert.equal(inside, ['a', 'b'])
})

test('fair semaphore: an owner with too many waiting callers is refused, others may wait', async () => {
  const slots = new FairSemaphore(1, 1, { maxPerOwner: 2 })
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

test('fair semaphore: a task that fails gives its amount back', async () => {
  const slots = new FairSemaphore(2, 2)
  const failed = await slots.run('a', () => Promise.reject(new Error('no')), 2).catch(error => error.message)
  assert.is(failed, 'no')
  assert.is(await slots.run('a', async () => 'done', 2), 'done')
})

test.run()
