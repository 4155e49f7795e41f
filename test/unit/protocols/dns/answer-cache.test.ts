import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../../src/lib/adjustable-clock.ts'
import type { Answer } from '../../../../src/protocols/dns/answer.ts'
import { createAnswerCache } from '../../../../src/protocols/dns/answer-cache.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('dns/answer-cache')
const MINUTE_MS = 60_000

/** A cache whose questions wait for `reply`, by default the oldest. */
async function setUp(t: TestContext, maxEntries = 100) {
  const clock = await t.using(createAdjustableClock())
  const waiting: PromiseWithResolvers<Answer<string>>[] = []
  const requests: string[] = []
  const lookUp = createAnswerCache<string>({
    clock,
    maxEntries,
    ask(name) {
      requests.push(name)
      const question = Promise.withResolvers<Answer<string>>()
      waiting.push(question)
      return question.promise
    },
  })
  const reply = (answer: Answer<string>, at = 0) => waiting.splice(at, 1)[0]!.resolve(answer)
  const learn = async (name: string, answer: Answer<string>) => {
    const looking = lookUp(name)
    reply(answer)
    await looking
  }
  return { clock, requests, lookUp, reply, learn, fail: (error: Error) => waiting.shift()!.reject(error) }
}

function found(record: string, ttlMs?: number): Answer<string> {
  return ttlMs === undefined
    ? { kind: 'found', records: [record] }
    : { kind: 'found', records: [record], ttlMs }
}

const KEPT: [string, Answer<string>, number][] = [
  ['an answer without TTL', found('x'), MINUTE_MS],
  ['an answer with a long TTL', found('x', 60 * MINUTE_MS), MINUTE_MS],
  ['an answer with a short TTL', found('x', 7_000), 7_000],
  ['no-data', { kind: 'no-data' }, 30_000],
  ['no-domain', { kind: 'no-domain' }, 30_000],
  ['a failure', { kind: 'failure', reason: 'SERVFAIL' }, 5_000],
]

for (const [what, answer, keptMs] of KEPT)
  test(`answer cache: ${what} is cached for ${keptMs / 1000} s`, async t => {
    const { clock, requests, lookUp, reply, learn } = await setUp(t)
    await learn('there.example', answer)
    clock.advance(keptMs - 1_000)
    assert.equal(await lookUp('there.example'), answer)
    assert.is(requests.length, 1)
    clock.advance(1_000)
    const looking = lookUp('there.example')
    reply(answer)
    await looking
    assert.is(requests.length, 2)
  })

test('answer cache: an answer with a TTL of 0 is not cached', async t => {
  const { requests, learn } = await setUp(t)
  await learn('there.example', found('x', 0))
  await learn('there.example', found('x', 0))
  assert.is(requests.length, 2)
})

test('answer cache: concurrent look-ups of one name share a query', async t => {
  const { requests, lookUp, reply } = await setUp(t)
  const looking = Array.from({ length: 50 }, () => lookUp('there.example'))
  reply(found('x', 0))
  for (const answer of await Promise.all(looking)) assert.equal(answer, found('x', 0))
  assert.is(requests.length, 1)
})

test('answer cache: a fresh look-up queries in spite of a cached or pending answer', async t => {
  const { requests, lookUp, reply, learn } = await setUp(t)
  await learn('there.example', found('kept'))
  const first = lookUp('there.example', { fresh: true })
  const second = lookUp('there.example', { fresh: true })
  assert.is(requests.length, 3)
  reply(found('first'))
  reply(found('second'))
  assert.equal(await Promise.all([first, second]), [found('first'), found('second')])
})

test('answer cache: an older query does not overwrite the answer of a newer one', async t => {
  const { lookUp, reply } = await setUp(t)
  const older = lookUp('there.example')
  const newer = lookUp('there.example', { fresh: true })
  const [toOlder, toNewer] = [found('older'), found('newer')]
  reply(toNewer, 1)
  assert.equal(await newer, toNewer)
  reply(toOlder)
  assert.equal(await older, toOlder)
  assert.equal(await lookUp('there.example'), toNewer)
})

test('answer cache: the oldest entries are removed beyond its size', async t => {
  const { requests, lookUp, learn } = await setUp(t, 2)
  for (const name of ['a.example', 'b.example', 'c.example']) await learn(name, found(name))
  assert.equal(await lookUp('c.example'), found('c.example'))
  assert.equal(await lookUp('b.example'), found('b.example'))
  void lookUp('a.example')
  assert.equal(requests, ['a.example', 'b.example', 'c.example', 'a.example'])
})

test('answer cache: an exception reaches all callers and is not cached', async t => {
  const { requests, lookUp, fail, learn } = await setUp(t)
  const looking = [lookUp('there.example'), lookUp('there.example')]
  fail(new TypeError('a bug'))
  for (const result of await Promise.allSettled(looking)) assert.is(result.status, 'rejected')
  await learn('there.example', found('x'))
  assert.is(requests.length, 2)
})

test('answer cache: names of built-in object members are ordinary names', async t => {
  const { learn, lookUp } = await setUp(t)
  for (const name of ['constructor', '__proto__', 'tostring']) {
    await learn(name, found(name))
    assert.equal(await lookUp(name), found(name))
  }
})

test.run()
