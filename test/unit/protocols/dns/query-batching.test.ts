import * as assert from 'uvu/assert'
import { createQueryBatching } from '../../../../src/protocols/dns/resolver.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/query-batching')
const nextTurn = () => new Promise(setImmediate)

/** Ten who want to begin at once, three a turn. */
function setUp() {
  const pace = createQueryBatching(3)
  const begun: number[] = []
  const want = (who: number) => pace.turn().then(() => begun.push(who))
  return { begun, want }
}

test('query batching: each turn starts a fixed number of queries in order', async () => {
  const { begun, want } = setUp()
  const all = Array.from({ length: 10 }, (_, i) => want(i))
  await Promise.resolve()
  assert.equal(begun, [0, 1, 2])
  await Promise.all(all)
  assert.equal(begun, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('query batching: no turn starts more than the limit', async () => {
  const { begun, want } = setUp()
  const all = Array.from({ length: 20 }, (_, i) => want(i))
  for (let before = 0; before < 20; before = begun.length) {
    await nextTurn()
    assert.ok(begun.length - before <= 6, 'two turns at most lie between two looks')
    if (begun.length < 20) assert.ok(begun.length > before)
  }
  await Promise.all(all)
})

test('query batching: later queries do not overtake waiting ones', async () => {
  const { begun, want } = setUp()
  const first = [0, 1, 2, 3, 4].map(want)
  await Promise.resolve()
  const late = want(5)
  await Promise.all([...first, late])
  assert.equal(begun, [0, 1, 2, 3, 4, 5])
})

test('query batching: after a pause the limit starts anew', async () => {
  const { begun, want } = setUp()
  await Promise.all([want(0), want(1)])
  for (let i = 0; i < 3; i++) await nextTurn()
  for (const who of [2, 3, 4]) void want(who)
  await Promise.resolve()
  assert.equal(begun, [0, 1, 2, 3, 4])
})

test.run()
