import * as assert from 'uvu/assert'
import { slowestOfLargest } from '../../../../src/pipeline/inbound/eviction.ts'
import { connectionToEvict, type OpenConnection } from '../../../../src/pipeline/inbound/open-connection.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/eviction')

const one = (netblock: string, bytesPerSecond = 0, since = 0) => ({ netblock, bytesPerSecond, since })

test('eviction: no candidate gives no victim', () => {
  assert.is(slowestOfLargest([]), undefined)
})

test('eviction: the victim is the slowest of the netblock with the most candidates', () => {
  const slowest = one('b', 7)
  assert.is(slowestOfLargest([one('a', 1), one('b', 9), slowest, one('c', 0)]), slowest)
})

test('eviction: among equals, the victim is the one without progress for the longest time', () => {
  const oldest = one('b', 5, 1)
  assert.is(slowestOfLargest([one('a', 5, 2), oldest, one('c', 5, 3)]), oldest)
})

test('eviction: a transaction that sends nothing goes before one that sends slowly', () => {
  const open = (bytesPerSecond?: number) =>
    ({
      netblock: 'a',
      progressAt: 0,
      connection: { hostNameAppearsAs: 'client', session: { envelope: { mailFrom: {} } } },
      transfer:
        bytesPerSecond === undefined
          ? undefined
          : { isHeldUp: () => false, bytesPerSecond: () => bytesPerSecond },
    }) as unknown as OpenConnection
  const [silent, slow] = [open(), open(10)]
  for (const opens of [
    [silent, slow],
    [slow, silent],
  ])
    assert.is(connectionToEvict(opens, 60_000, 10), silent)
})

test.run()
