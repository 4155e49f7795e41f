import * as assert from 'uvu/assert'
import { createKeyedLock } from '../../../src/lib/keyed-lock.ts'
import { settled } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/keyed-lock')

test('keyed lock: tasks of one key run one after another, others concurrently', async () => {
  const alone = createKeyedLock()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const tasks = [
    alone('a', async () => {
      order.push('a1 begins')
      await gate.promise
      order.push('a1 ends')
    }),
    alone('a', async () => order.push('a2')),
    alone('b', async () => order.push('b')),
  ]
  await settled()
  assert.equal(order, ['a1 begins', 'b'])
  gate.resolve()
  await Promise.all(tasks)
  assert.equal(order, ['a1 begins', 'b', 'a1 ends', 'a2'])
})

test('keyed lock: a failing task rejects, and the next one runs', async () => {
  const alone = createKeyedLock()
  const failing = alone('a', async () => {
    throw new Error('no')
  })
  const next = alone('a', async () => 'yes')
  assert.is(await failing.catch(error => error.message), 'no')
  assert.is(await next, 'yes')
})

test.run()
