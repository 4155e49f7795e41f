import * as assert from 'uvu/assert'
import { command } from '../../../src/store/model/command.ts'
import { createFigures } from '../../../src/store/writer/figures.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('figures of the writer')

const commands = {
  tally: command<{ count: number; fails?: boolean }, void>(async (tx, { count, fails }) => {
    tx.tally('things', count)
    if (fails) throw new Error('on purpose')
  }),
}

test('a group has the tallies of its commands, except of those that failed', async t => {
  const store = await t.using(openLocalStore(commands))
  const { tallies } = await store.group(
    { name: 'tally', input: { count: 2 } },
    { name: 'tally', input: { count: 5, fails: true } },
    { name: 'tally', input: { count: 3 } },
  )
  assert.equal([...tallies], [['things', 5]])
})

test('figures are sums over all groups, and are taken when they have changed', () => {
  const figures = createFigures()
  assert.is(figures.take(), undefined)
  figures.add({ seconds: 0.002, commandCount: 3, tallies: new Map([['a', 1]]) })
  figures.add({
    seconds: 20,
    commandCount: 1,
    tallies: new Map([
      ['a', 2],
      ['b', 1],
    ]),
  })
  const { tallies, durations, sizes, commandCount } = figures.take()!
  assert.equal([tallies, commandCount], [{ a: 3, b: 1 }, 4])
  assert.equal(
    [durations.counts.at(-1), durations.counts.reduce((sum, count) => sum + count), durations.sum],
    [1, 2, 20.002],
  )
  assert.equal([sizes.sum, sizes.counts.slice(0, 3)], [4, [1, 0, 1]])
  assert.is(figures.take(), undefined)
})

test.run()
