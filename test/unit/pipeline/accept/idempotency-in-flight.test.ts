import * as assert from 'uvu/assert'
import { createInFlightRequests } from '../../../../src/pipeline/accept/idempotency-in-flight.ts'
import type { Refusal } from '../../../../src/pipeline/accept/refusal.ts'
import type { Accepted, IdempotencyToken, Sender } from '../../../../src/pipeline/accept/submission.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { openSqliteStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/idempotency-in-flight')

const REFUSED: Refusal = { refused: 'invalid_field', message: 'bad' }
const token = (key = 'k', body = 'body', endpoint = '/emails'): IdempotencyToken => ({
  endpoint,
  key,
  bodyHash: new Uint8Array(Buffer.from(body.padEnd(32))),
})
const taken = (): Accepted => ({ ids: [newId(1)], leftOut: [] })

async function open(t: TestContext) {
  const store = await t.using(openSqliteStore())
  const post = postOver(store)
  const accountId = post.account()
  const repeats = createInFlightRequests({ find: store.find, clock: post.clock })
  const senderOf = (id: Uint8Array): Sender => ({ accountId: id, apiKeyId: null, domain: null })
  let begun = 0
  /** A request whose work ends when the test says so. */
  const ask = (idempotency: IdempotencyToken | null = token(), account = accountId) => {
    const work = Promise.withResolvers<Accepted | Refusal>()
    const state = { begun: false, answer: undefined as unknown }
    const answer = repeats.once(senderOf(account), idempotency, () => {
      state.begun = true
      begun++
      return work.promise
    })
    answer.then(
      input => {
        state.answer = input
      },
      error => {
        state.answer = error
      },
    )
    return { state, answer, end: work.resolve, fail: work.reject }
  }
  return { ...store, ...post, accountId, ask, begunCount: () => begun }
}

test('idempotency in flight: a repeated request waits for the first and gets its answer', async t => {
  const { ask, begunCount } = await open(t)
  const [first, ...others] = Array.from({ length: 50 }, () => ask())
  await settled()
  assert.is(begunCount(), 1)
  assert.ok(others.every(({ state }) => state.answer === undefined))
  const accepted = taken()
  first!.end(accepted)
  for (const { answer } of [first!, ...others]) assert.is(await answer, accepted)
  assert.is(begunCount(), 1)
})

test('idempotency in flight: another body is refused after the first request was accepted', async t => {
  const { ask } = await open(t)
  const first = ask()
  const other = ask(token('k', 'other'))
  await settled()
  assert.is(other.state.answer, undefined)
  first.end(taken())
  assert.is(((await other.answer) as Refusal).refused, 'idempotency_mismatch')
  assert.is(other.state.begun, false)
})

test('idempotency in flight: after a refusal or failure the next request proceeds and the rest wait', async t => {
  const { ask } = await open(t)
  const [first, second, third, fourth] = [ask(), ask(), ask(token('k', 'other')), ask()]
  await settled()
  first.end(REFUSED)
  assert.is(await first.answer, REFUSED)
  await settled()
  assert.equal([second.state.begun, third.state.begun], [true, false])
  second.fail(new Error('the disk is full'))
  await second.answer.then(
    () => assert.unreachable(),
    error => assert.match(error.message, 'full'),
  )
  await settled()
  assert.equal([third.state.begun, fourth.state.begun], [true, false])
  third.end(taken())
  await third.answer
  assert.is(((await fourth.answer) as Refusal).refused, 'idempotency_mismatch')
})

test('idempotency in flight: a batch without accepted emails leaves its key to the next', async t => {
  const { ask } = await open(t)
  const [first, second] = [ask(), ask()]
  first.end({ ids: [], leftOut: [{ index: 0, message: 'bad' }] })
  await first.answer
  await settled()
  assert.is(second.state.begun, true)
  second.end(taken())
  await second.answer
})

test('idempotency in flight: a request that has waited 10 s is refused without its work', async t => {
  const { ask, clock } = await open(t)
  const first = ask()
  const second = ask()
  await settled()
  clock.advance(9_999)
  await settled()
  assert.is(second.state.answer, undefined)
  clock.advance(1)
  assert.is(((await second.answer) as Refusal).refused, 'idempotency_running')
  first.end(taken())
  await first.answer
  assert.is(second.state.begun, false)
})

test('idempotency in flight: the 10 s count from the arrival of the request', async t => {
  const { ask, clock } = await open(t)
  const [first, second, third] = [ask(), ask(), ask()]
  await settled()
  clock.advance(6_000)
  first.end(REFUSED)
  await first.answer
  await settled()
  assert.is(second.state.begun, true)
  clock.advance(4_000)
  assert.is(((await third.answer) as Refusal).refused, 'idempotency_running')
  second.end(taken())
  await second.answer
})

test('idempotency in flight: other keys, endpoints and accounts, and requests without a key, do not wait', async t => {
  const { ask, account } = await open(t)
  const others = [ask(token('K')), ask(token('k', 'body', '/emails/batch')), ask(token(), account('Other'))]
  const all = [ask(), ...others, ask(null), ask(null)]
  await settled()
  for (const { state, end, answer } of all) {
    assert.is(state.begun, true)
    end(taken())
    await answer
  }
})

test('idempotency in flight: finished requests leave no timer and no entry', async t => {
  const { ask, clock } = await open(t)
  const [first, second] = [ask(), ask()]
  await settled()
  first.end(taken())
  await Promise.all([first.answer, second.answer])
  assert.is(clock.timerCount, 0)
  const later = ask()
  await settled()
  assert.is(later.state.begun, true, 'what was taken is remembered by the store alone')
  later.end(taken())
  await later.answer
})

test('idempotency in flight: a stored answer is returned without work', async t => {
  const { ask, submit, domain, accountId } = await open(t)
  domain(accountId, 'here.test')
  const { ids } = (await submit(accountId, {}, token())) as Accepted
  const again = ask()
  assert.equal(await again.answer, { ids, leftOut: [] })
  assert.is(((await ask(token('k', 'other')).answer) as Refusal).refused, 'idempotency_mismatch')
  assert.is(again.state.begun, false)
})

test.run()
