import * as assert from 'uvu/assert'
import { createGuessMemory } from '../../../../src/resources/accounts/guess-counter.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/guess-memory')

const keysOf = (memory: ReturnType<typeof createGuessMemory<number>>, keys: string[]) =>
  keys.filter(key => memory.get(key) !== undefined)

test('guess memory: the entry set longest ago is evicted', () => {
  const memory = createGuessMemory<number>(3)
  for (const key of ['a', 'b', 'c']) memory.set(key, 1, false)
  memory.set('a', 2, false)
  memory.set('d', 1, false)
  assert.equal(keysOf(memory, ['a', 'b', 'c', 'd']), ['a', 'c', 'd'])
  assert.is(memory.get('a'), 2)
})

test('guess memory: ordinary entries do not evict protected ones', () => {
  const memory = createGuessMemory<number>(3)
  memory.set('penalised', 1, true)
  for (let i = 0; i < 10; i++) memory.set(`flood ${i}`, 1, false)
  assert.is(memory.get('penalised'), 1)
})

test('guess memory: protected entries are bounded', () => {
  const memory = createGuessMemory<number>(2)
  for (const key of ['a', 'b', 'c']) memory.set(key, 1, true)
  assert.equal(keysOf(memory, ['a', 'b', 'c']), ['b', 'c'])
})

test('guess memory: protection of an entry can change', () => {
  const memory = createGuessMemory<number>(1)
  memory.set('a', 1, false)
  memory.set('a', 2, true)
  memory.set('b', 1, false)
  assert.equal([memory.get('a'), memory.get('b')], [2, 1])
  memory.set('a', 3, false)
  assert.equal([memory.get('a'), memory.get('b')], [3, undefined])
  memory.delete('a')
  assert.is(memory.get('a'), undefined)
})

test.run()
