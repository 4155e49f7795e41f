import * as assert from 'uvu/assert'
import { createRecorder } from '../../../../src/pipeline/delivery/recorder.ts'
import type { Finish } from '../../../../src/pipeline/queue/commands.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('recorder')

/** A recorder over a store that answers as the test says; what was written is counted. */
function openRecorder() {
  const clock = createManualClock()
  const stopping = new AbortController()
  const requests: { finish: Finish; answer: PromiseWithResolvers<boolean> }[] = []
  const recorder = createRecorder(
    (_, finish) => {
      const answer = Promise.withResolvers<boolean>()
      requests.push({ finish: finish as Finish, answer })
      return answer.promise as never
    },
    clock,
    stopping.signal,
  )
  return {
    clock,
    stopping,
    requests,
    recorder,
    record: (name: string) => recorder.record({ address: name } as Finish),
  }
}

const reject = async (entry: { answer: PromiseWithResolvers<boolean> } | undefined, error: Error) => {
  entry!.answer.reject(error)
  await settled()
}

test("a result is stored at once, and the store's answer is returned", async () => {
  const { requests, record } = openRecorder()
  const [good, stale] = [record('a'), record('b')]
  assert.equal(
    requests.map(({ finish }) => finish.address),
    ['a', 'b'],
  )
  requests[1]!.answer.resolve(false)
  requests[0]!.answer.resolve(true)
  assert.equal([await good, await stale], [true, false])
})

test('while the store is unavailable, storing is retried every second', async () => {
  const { requests, record, clock } = openRecorder()
  const recording = record('a')
  for (let tries = 1; tries <= 3; tries++) {
    await reject(requests.at(-1), new StorageUnavailable('disk full'))
    assert.is(requests.length, tries)
    clock.advance(999)
    await settled()
    assert.is(requests.length, tries)
    clock.advance(1)
    await settled()
    assert.is(requests.length, tries + 1)
  }
  requests.at(-1)!.answer.resolve(true)
  assert.is(await recording, true)
  assert.is(clock.timerCount, 0)
})

test('drained() waits for results that cannot be stored, up to its limit', async () => {
  const { requests, record, recorder, clock } = openRecorder()
  record('a').catch(() => {})
  await reject(requests[0], new StorageUnavailable('disk full'))
  let left: number | undefined
  const draining = recorder.drained(5_000).then(count => {
    left = count
  })
  clock.advance(4_999)
  await settled()
  assert.is(left, undefined)
  clock.advance(1)
  await draining
  assert.is(left, 1)

  const again = recorder.drained(5_000)
  requests.at(-1)!.answer.resolve(true)
  assert.equal([await again, clock.timerCount], [0, 0])
})

test('any other error of the store rejects the record', async () => {
  const { requests, record, clock } = openRecorder()
  const recording = record('a').catch(error => error.message)
  await reject(requests[0], new Error('a bug'))
  assert.is(await recording, 'a bug')
  assert.is(clock.timerCount, 0)
})

test('stopping ends the retries and leaves no timer', async () => {
  const { requests, record, clock, stopping } = openRecorder()
  const waiting = record('a').catch(error => error.message)
  const asking = record('b').catch(error => error.constructor)
  await reject(requests[0], new StorageUnavailable('disk full'))
  stopping.abort(new Error('the delivery worker is stopping'))
  assert.is(await waiting, 'the delivery worker is stopping')
  await reject(requests[1], new StorageUnavailable('disk full'))
  assert.is(await asking, StorageUnavailable)
  assert.is(clock.timerCount, 0)
})

test('results that can be stored are stored while the recorder stops', async () => {
  const { requests, record, recorder, stopping } = openRecorder()
  const recording = record('a')
  stopping.abort(new Error('stopping'))
  let drained = false
  const draining = recorder.drained().then(() => {
    drained = true
  })
  await settled()
  assert.is(drained, false)
  requests[0]!.answer.resolve(true)
  assert.is(await recording, true)
  await draining
})

test('room() waits while 256 results are not stored', async () => {
  const { requests, record, recorder } = openRecorder()
  for (let i = 0; i < 255; i++) void record(`${i}`)
  await recorder.room()
  void record('last')
  let room = false
  const waiting = recorder.room().then(() => {
    room = true
  })
  await settled()
  assert.is(room, false)
  requests[7]!.answer.resolve(true)
  await waiting
})

test('a result that cannot be stored makes room like any other', async () => {
  const { requests, record, recorder } = openRecorder()
  for (let i = 0; i < 256; i++) record(`${i}`).catch(() => {})
  const room = recorder.room()
  await reject(requests[0], new Error('a bug'))
  await room
})

test('drained() resolves at once when nothing waits', async () => {
  const { recorder } = openRecorder()
  await recorder.room()
  await recorder.drained()
})

test.run()
