import * as assert from 'uvu/assert'
import { createRecentMessageCache } from '../../../../src/pipeline/inbound/recent-message-cache.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/recent-message-cache')

function blob(number: number, size = 10) {
  return { hash: new Uint8Array(32).fill(number), body: new Uint8Array(size).fill(number) }
}

test('recent message cache: an entry is returned once', () => {
  const recentMessages = createRecentMessageCache(createManualClock())
  recentMessages.keep(blob(1))
  assert.equal(recentMessages.take(blob(1).hash), blob(1).body)
  assert.is(recentMessages.take(blob(1).hash), undefined)
})

test('recent message cache: messages in files, or beyond the limit, are not cached', () => {
  const recentMessages = createRecentMessageCache(createManualClock(), 25)
  recentMessages.keep({ ...blob(1), body: null })
  for (const number of [2, 3, 4]) recentMessages.keep(blob(number))
  assert.equal(
    [1, 2, 3, 4].map(number => recentMessages.take(blob(number).hash)?.[0]),
    [undefined, 2, 3, undefined],
  )
})

test('recent message cache: a duplicate uses memory once', () => {
  const recentMessages = createRecentMessageCache(createManualClock(), 20)
  for (let i = 0; i < 5; i++) recentMessages.keep(blob(1))
  recentMessages.keep(blob(2))
  assert.equal(recentMessages.take(blob(2).hash), blob(2).body)
})

test('recent message cache: an unused entry expires after one minute', () => {
  const clock = createManualClock()
  const recentMessages = createRecentMessageCache(clock, 20)
  recentMessages.keep(blob(1))
  clock.advance(30_000)
  recentMessages.keep(blob(2))
  clock.advance(30_000)
  recentMessages.keep(blob(3))
  assert.equal(
    [1, 2, 3].map(number => recentMessages.take(blob(number).hash)?.[0]),
    [undefined, 2, 3],
  )
})

test.run()
