import * as assert from 'uvu/assert'
import { createEffects } from '../../../src/store/writer/effects.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/effects')
const id = (fill: number) => new Uint8Array(16).fill(fill)
const change = (account: number, kind: string, period: string, delta: number) => ({
  accountId: id(account),
  kind,
  period,
  delta,
})

test('effects: changes of one counter are summed by account, kind and period', () => {
  const effects = createEffects()
  for (const delta of [1, 2, -5]) effects.count(change(1, 'emails', '2026-11', delta))
  effects.count(change(2, 'emails', '2026-11', 7))
  effects.count(change(1, 'emails', '2026-12', 8))
  effects.count(change(1, 'emails 2026-11', '', 9))
  assert.is(effects.counted(id(1), 'emails', '2026-11'), -2)
  assert.is(effects.counted(id(1), 'emails', ''), 0)
  assert.equal(
    [...effects.counts()].map(({ delta }) => delta),
    [-2, 7, 8, 9],
  )
})

test('effects: announcements keep their order within a topic', () => {
  const effects = createEffects()
  effects.announce('due', 1)
  effects.announce('other', 'x')
  effects.announce('due', 2)
  assert.equal(effects.announcements(), [
    { topic: 'due', payloads: [1, 2] },
    { topic: 'other', payloads: ['x'] },
  ])
})

test('effects: those of a savepoint are added and independent afterwards', () => {
  const [group, own] = [createEffects(), createEffects()]
  group.count(change(1, 'emails', '', 1))
  group.announce('due', 'first')
  own.count(change(1, 'emails', '', 2))
  own.announce('due', 'second')
  group.absorb(own)
  group.count(change(1, 'emails', '', 10))
  assert.is(group.counted(id(1), 'emails', ''), 13)
  assert.is(own.counted(id(1), 'emails', ''), 2)
  assert.equal(group.announcements(), [{ topic: 'due', payloads: ['first', 'second'] }])
})

test('effects: later changes do not affect what was handed over', () => {
  const effects = createEffects()
  const first = change(1, 'emails', '', 1)
  effects.count(first)
  effects.count(change(1, 'emails', '', 1))
  assert.is(first.delta, 1)
})

test.run()
