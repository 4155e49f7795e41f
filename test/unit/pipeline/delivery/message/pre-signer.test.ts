import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { wireId } from '../../../../../src/lib/ids.ts'
import {
  startPreSigner,
  type WaitingDelivery,
} from '../../../../../src/pipeline/delivery/message/pre-signer.ts'
import { createSignatureCache } from '../../../../../src/pipeline/delivery/message/signature-cache.ts'
import type { QueueKey } from '../../../../../src/store/model/command.ts'
import { newId } from '../../../../kit/mail.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('pre-signer')
const accountId = newId(0)
const queueKey: QueueKey = { domain: 'there.test', class: 0, accountId }
const delivery = (ordinal: number): WaitingDelivery => ({
  emailId: newId(ordinal),
  ordinal,
  accountId,
  address: 'rcpt@there.test',
  nextAt: ordinal,
})

/** Deliveries 0 to `count` wait for a destination that rests. */
function open(t: TestContext, count: number, { room = Number.POSITIVE_INFINITY } = {}) {
  const clock = createManualClock()
  const state = { isPaused: true, isIdle: true, count, room, missing: new Set<number>() }
  const signed: number[] = []
  const requests: (number | null)[] = []
  const errors: unknown[] = []
  const preSigner = startPreSigner({
    clock,
    isPaused: () => state.isPaused,
    isIdle: () => state.isIdle,
    queueKeysOf: () => [queueKey],
    async waitingIn(_, after, limit) {
      requests.push(after?.ordinal ?? null)
      const from = after ? after.ordinal + 1 : 0
      const to = Math.min(state.count, from + limit)
      return Array.from({ length: Math.max(0, to - from) }, (_, i) => delivery(from + i)).filter(
        ({ ordinal }) => !state.missing.has(ordinal),
      )
    },
    hasRoom: () => signed.length < state.room,
    async signAhead({ ordinal }) {
      if (signed.includes(ordinal)) return false
      signed.push(ordinal)
      return true
    },
    onError: error => void errors.push(error),
  })
  t.after(() => preSigner.stop())
  return { preSigner, clock, state, signed, requests, errors }
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

test('all waiting mail is signed once, in order', async t => {
  const { preSigner, clock, signed, state } = open(t, 250)
  preSigner.watch('there')
  await until(() => signed.length === 250 && clock.timerCount === 1)
  state.count = 260
  clock.advance(5_000)
  await until(() => signed.length === 260)
  assert.equal(signed, upTo(260))
})

test('scans become less frequent while there is no new mail, down to every 30 s', async t => {
  const { preSigner, clock, requests } = open(t, 0)
  preSigner.watch('there')
  const looksAfter: number[] = []
  for (let looks = 1; looks < 5; looks++) {
    await until(() => requests.length === looks && clock.timerCount === 1)
    let seconds = 0
    for (; requests.length === looks && seconds < 60; seconds++) {
      clock.advance(1_000)
      await turn()
    }
    looksAfter.push(seconds)
  }
  assert.equal(looksAfter, [10, 20, 30, 30])
})

test('mail that returns in front of signed mail is found', async t => {
  const { preSigner, clock, signed, state } = open(t, 3)
  state.missing.add(1)
  preSigner.watch('there')
  await until(() => signed.length === 2 && clock.timerCount === 1)
  state.missing.clear()
  clock.advance(5_000)
  await until(() => signed.length === 3)
  assert.equal(signed, [0, 2, 1])
})

test('nothing is signed while the thread is busy', async t => {
  const { preSigner, clock, signed, state } = open(t, 3)
  state.isIdle = false
  preSigner.watch('there')
  await until(() => clock.timerCount === 1)
  assert.equal(signed, [])
  state.isIdle = true
  clock.advance(50)
  await until(() => signed.length === 3)
})

test('signing ends with the pause and starts again with the next one', async t => {
  const { preSigner, clock, signed, state } = open(t, 2)
  preSigner.watch('there')
  await until(() => signed.length === 2 && clock.timerCount === 1)
  state.isPaused = false
  clock.advance(5_000)
  await turn()
  assert.is(clock.timerCount, 0)
  state.isPaused = true
  preSigner.watch('there')
  state.count = 3
  await until(() => signed.length === 3)
})

test('signing stops while the cache is full, and reads no mail until there is room', async t => {
  const { preSigner, clock, signed, requests, state } = open(t, 10, { room: 4 })
  preSigner.watch('there')
  await until(() => signed.length === 4 && clock.timerCount === 1)
  assert.equal(signed, upTo(4))
  assert.is(requests.length, 1)
  clock.advance(5_000)
  await turn()
  assert.is(requests.length, 1)
  state.room = 10
  clock.advance(10_000)
  await until(() => signed.length === 10)
})

test('stopping during a scan is not an error', async t => {
  const { preSigner, clock, errors } = open(t, 0)
  preSigner.watch('there')
  await until(() => clock.timerCount === 1)
  await preSigner.stop()
  assert.is(clock.timerCount, 0)
  assert.equal(errors, [])
})

test('a cached signature is taken once', () => {
  const remaining = createSignatureCache()
  const ref = { emailId: newId(1), ordinal: 3 }
  const made = {
    signedAt: Date.UTC(2026, 10, 23),
    signatures: [256, 64].map((size, i) => ({
      keyId: wireId('key', newId(i)),
      bytes: randomBytes(size).toString('base64'),
    })),
    digests: [randomBytes(32), randomBytes(32)].map(digest => digest.toString('base64')),
  }
  remaining.put(ref, made)
  assert.is(remaining.has({ ...ref, ordinal: 2 }), false)
  assert.equal(remaining.take(ref), made)
  assert.is(remaining.take(ref), undefined)
})

test('the cache is bounded, and only entries older than an hour are replaced', () => {
  const remaining = createSignatureCache(2)
  const ref = (ordinal: number) => ({ emailId: newId(1), ordinal })
  const [first, second, third] = [ref(1), ref(2), ref(3)]
  const at = (signedAt: number) => ({ signedAt, signatures: [], digests: [] })
  remaining.put(first, at(0))
  assert.is(remaining.hasRoom(1), true)
  remaining.put(second, at(1))
  assert.is(remaining.hasRoom(3_599_999), false)
  assert.is(remaining.hasRoom(3_600_000), true)
  remaining.put(third, at(3_600_000))
  assert.equal(
    [first, second, third].map(one => remaining.has(one)),
    [false, true, true],
  )
})

test.run()
