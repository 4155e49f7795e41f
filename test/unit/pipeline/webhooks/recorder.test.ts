import * as assert from 'uvu/assert'
import type { WebhookAttempt } from '../../../../src/pipeline/webhooks/dispatch-commands.ts'
import { createWebhookRecorder } from '../../../../src/pipeline/webhooks/recorder.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('webhooks/recorder')
const NEXT_AT = 77
const attempt = (nextAt: number | null) => ({ webhookId: new Uint8Array(16), nextAt }) as WebhookAttempt

/** A recorder with a store that answers as told, and a list of what it has done. */
function open(answer: () => Promise<string>) {
  const clock = createManualClock()
  const done: string[] = []
  const recorder = createWebhookRecorder({
    run: (async (command: string) => {
      if (command === 'finishWebhookAttempt') return answer()
      done.push(command)
      return undefined
    }) as never,
    clock,
    onRetry: (_, at) => done.push(`retry at ${at}`),
    onRoom: () => done.push('room'),
    onError: error => done.push((error as Error).constructor.name),
  })
  return { recorder, clock, done }
}

for (const [effect, nextAt, expected] of [
  ['recorded', NEXT_AT, [`retry at ${NEXT_AT}`]],
  ['recorded', null, []],
  ['stale', NEXT_AT, []],
  ['stale', null, []],
  ['failing', NEXT_AT, ['disableFailingWebhook']],
] as const)
  test(`a result that is ${effect} with ${nextAt ? 'a' : 'no'} next attempt: ${expected.join() || 'nothing follows'}`, async () => {
    const { recorder, clock, done } = open(async () => effect)
    await recorder.record(attempt(nextAt), clock.now() + 1)
    assert.equal(done, [...expected])
  })

test('results wait while the store is unavailable, until their lease ends', async () => {
  const { recorder, clock, done } = open(() => Promise.reject(new StorageUnavailable('full')))
  const recorded = recorder.record(attempt(null), clock.now() + 2_000)
  await settled()
  clock.advance(1_000)
  await settled()
  assert.equal([done, clock.timerCount], [[], 1])
  clock.advance(1_000)
  await recorded
  assert.equal([done, clock.timerCount], [['StorageUnavailable'], 0])
})

test('a stop does not wait for the lease while the store is unavailable', async () => {
  const { recorder, clock, done } = open(() => Promise.reject(new StorageUnavailable('full')))
  void recorder.record(attempt(null), clock.now() + 60_000)
  await settled()
  const stopped = recorder.stop()
  clock.advance(1_000)
  await stopped
  assert.equal(done, ['StorageUnavailable'])
})

test('a recorder with a thousand results is full, and says once that it has room', async () => {
  const stored = Promise.withResolvers<string>()
  const { recorder, clock, done } = open(() => stored.promise)
  const all = Array.from({ length: 999 }, () => recorder.record(attempt(null), clock.now() + 1))
  assert.is(recorder.isFull(), false)
  all.push(recorder.record(attempt(null), clock.now() + 1))
  assert.is(recorder.isFull(), true)
  stored.resolve('recorded')
  await Promise.all(all)
  assert.equal([recorder.isFull(), done], [false, ['room']])
})

test.run()
