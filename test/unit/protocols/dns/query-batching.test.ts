import * as assert from 'uvu/assert'
import { createQueryBatching } from '../../../../src/protocols/dns/query-batching.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/pace')
const nextTurn = () => new Promise(setImmediate)

/** Ten who want to begin at once, three a turn. */
function given() {
  const pace = createQueryBatching(3)
  const begun: number[] = []
  const want = (who: number) => pace.turn().then(() => begun.push(who))
  return { begun, want }
}

test('so many begin in each turn of the event loop, first come first served', async () => {
  const { begun, want } = given()
  const all = Array.from({ length: 10 }, (_, i) => want(i))
  await Promise.resolve()
  assert.equal(begun, [0, 1, 2])
  await Promise.all(all)
  assert.equal(begun, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('no turn has more than its share', async () => {
  const { begun, want } = given()
  const all = Array.from({ length: 20 }, (_, i) => want(i))
  for (let before = 0; before < 20; before = begun.length) {
    await nextTurn()
    assert.ok(begun.length - before <= 6, 'two turns at most lie between two looks')
    if (begun.length < 20) assert.ok(begun.length > before)
  }
  await Promise.all(all)
})

test('whoever comes later does not pass those who wait', async () => {
  const { begun, want } = given()
  const first = [0, 1, 2, 3, 4].map(want)
  await Promise.resolve()
  const late = want(5)
  await Promise.all([...first, late])
  assert.equal(begun, [0, 1, 2, 3, 4, 5])
})

test('after a rest all is as in the beginning', async () => {
  const { begun, want } = given()
  await Promise.all([want(0), want(1)])
  for (let i = 0; i < 3; i++) await nextTurn()
  for (const who of [2, 3, 4]) void want(who)
  await Promise.resolve()
  assert.equal(begun, [0, 1, 2, 3, 4])
})

test.run()
