import * as assert from 'uvu/assert'
import { FairTurns } from '../../../src/lib/fair-turns.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('fair-turns')

test('small work of another owner runs before large work that waits', async () => {
  const turns = new FairTurns()
  const order: string[] = []
  const run = (owner: string, cost: number, name: string) =>
    turns.run(owner, cost, () => void order.push(name))
  const all = Array.from({ length: 150 }, (_, i) => run('eve', 500_000, `eve ${i}`))
  await new Promise(setImmediate)
  await run('ann', 1_000, 'ann 0')
  await run('ann', 1_000, 'ann 1')
  assert.ok(order.indexOf('ann 0') <= 2, `${order.indexOf('ann 0')} before the first`)
  assert.ok(order.indexOf('ann 1') <= 4, `${order.indexOf('ann 1')} before the second`)
  await Promise.all(all)
  assert.is(order.length, 152)
})

test('one piece of work runs in a turn, so that other events are handled in between', async () => {
  const turns = new FairTurns()
  let done = 0
  const all = Array.from({ length: 20 }, () => turns.run('eve', 1, () => void done++))
  for (let seen = done; done < 20; seen = done) {
    await new Promise(setImmediate)
    assert.ok(done - seen <= 1, `${done - seen} in one turn`)
  }
  await Promise.all(all)
})

test('owners with equal work alternate', async () => {
  const turns = new FairTurns()
  const order: string[] = []
  const all = ['a', 'a', 'a', 'b', 'b', 'c'].map(owner => turns.run(owner, 10, () => void order.push(owner)))
  await Promise.all(all)
  assert.equal(order.slice(0, 3).sort(), ['a', 'b', 'c'])
})

test('work that throws rejects its own promise, and later work runs', async () => {
  const turns = new FairTurns()
  const broken = turns.run('a', 1, () => {
    throw new Error('bad page')
  })
  const good = turns.run('a', 1, () => 'good')
  assert.is(await broken.catch(({ message }) => message), 'bad page')
  assert.is(await good, 'good')
})

test.run()
