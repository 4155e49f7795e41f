import { once } from 'node:events'
import * as assert from 'uvu/assert'
import type { Log } from '../../../src/lib/log.ts'
import { RunningWorker, SupervisedWorker } from '../../../src/lib/worker.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('lib/worker')

interface Given {
  does?: string
  beforeRestart?: () => Promise<void>
  /** Numbers of the starts whose thread cannot be created. */
  impossible?: readonly number[]
}

function open(t: TestContext, { does = 'waits', beforeRestart, impossible = [] }: Given = {}) {
  const clock = createManualClock()
  const logged: { event: string; err: Error }[] = []
  let starts = 0
  let restarts = 0
  const worker = new SupervisedWorker({
    name: 'scripted',
    entry: new URL('./scripted-worker.ts', import.meta.url),
    limits: {},
    open() {
      starts += 1
      if (impossible.includes(starts)) throw new Error('there are too many threads')
      return { data: { does, start: starts } }
    },
    ...(beforeRestart && { beforeRestart }),
    onRestart: () => {
      restarts += 1
    },
    clock,
    log: { error: (fields: { event: string; err: Error }) => logged.push(fields) } as unknown as Log,
  })
  t.after(() => worker.stop('stop', 1))
  const events = () => logged.map(({ event }) => event)
  const restart = async (wanted: number) => {
    await until(() => clock.timerCount > 0)
    clock.advance(1_000)
    await until(() => restarts === wanted)
  }
  return { worker, clock, logged, events, restart, startCount: () => starts }
}

test('worker: start resolves with the first message of the thread', async t => {
  const { worker } = open(t)
  assert.equal(await worker.start(), { start: 1 })
})

test('worker: a thread that fails while nobody waits for it is reported, and leaves no unhandled rejection', async t => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  t.after(() => process.off('unhandledRejection', note))
  const errors: [string, boolean][] = []
  const worker = new RunningWorker(
    {
      ...{ name: 'scripted', data: { does: 'fails', start: 1 }, limits: {} },
      entry: new URL('./scripted-worker.ts', import.meta.url),
    },
    ({ message }, wasReady) => errors.push([message, wasReady]),
  )
  assert.is(await worker.ended, 1)
  await new Promise(resolve => setImmediate(resolve))
  assert.equal(errors, [['the disk is gone', false]])
  assert.equal(unhandled, [])
})

test('worker: startOnce starts one thread, and none after stop', async t => {
  const first = open(t)
  first.worker.startOnce()
  first.worker.startOnce()
  assert.is(first.startCount(), 1)
  const second = open(t)
  await second.worker.stop()
  second.worker.startOnce()
  assert.is(second.startCount(), 0)
})

test('worker: a thread that dies is restarted one second later, with new data', async t => {
  const { worker, logged, restart, startCount } = open(t)
  await worker.start()
  worker.post('die')
  await restart(1)
  worker.post('die')
  await restart(2)
  assert.is(startCount(), 3)
  assert.equal(
    logged.map(({ event, err }) => [event, err.message]),
    [
      ['worker_died', 'the disk is gone'],
      ['worker_died', 'the disk is gone'],
    ],
  )
})

test('worker: a thread that ends without an error is restarted as well', async t => {
  const { worker, logged, restart } = open(t)
  await worker.start()
  worker.post('exit')
  await restart(1)
  assert.equal(
    logged.map(({ event, err }) => [event, err.message]),
    [['worker_ended', 'exit code 3']],
  )
})

test('worker: the restart is tried again until what precedes it succeeds', async t => {
  let tries = 0
  const { worker, clock, events, restart } = open(t, {
    async beforeRestart() {
      tries += 1
      if (tries < 3) throw new Error('the store is unavailable')
    },
  })
  await worker.start()
  worker.post('die')
  for (let i = 1; i < 3; i++) {
    await until(() => clock.timerCount > 0)
    clock.advance(1_000)
    await until(() => tries === i)
  }
  await restart(1)
  assert.equal(events(), ['worker_died', 'worker_restart_failed', 'worker_restart_failed'])
})

test('worker: start rejects with the error that the thread died of, and the thread is restarted', async t => {
  const { worker, clock, events, startCount } = open(t, { does: 'fails' })
  assert.match(String(await worker.start().catch(error => error.message)), /the disk is gone/)
  await until(() => clock.timerCount > 0)
  clock.advance(1_000)
  await until(() => startCount() === 2)
  await until(() => events().includes('worker_restart_failed'))
})

test('worker: a thread that cannot be created is retried, at the start and after a death', async t => {
  const { worker, clock, events, restart, startCount } = open(t, { impossible: [1, 3] })
  assert.match(String(await worker.start().catch(error => error.message)), /too many threads/)
  worker.startOnce() // it was started, although it waits for its restart
  await restart(1)
  worker.post('die')
  await until(() => clock.timerCount > 0)
  clock.advance(1_000)
  await until(() => events().includes('worker_restart_failed'))
  await restart(2)
  assert.is(startCount(), 4)
  assert.equal(events(), ['worker_died', 'worker_restart_failed'])
})

test('worker: stop ends the thread and cancels a restart', async t => {
  const { worker, clock, events } = open(t)
  await worker.start()
  assert.is(await worker.stop(), 0)
  const other = open(t)
  await other.worker.start()
  other.worker.post('die')
  await until(() => other.clock.timerCount > 0)
  await other.worker.stop()
  assert.equal([clock.timerCount, other.clock.timerCount], [0, 0])
  assert.equal(events(), [])
})

test('worker: a thread that does not stop in time is terminated', async t => {
  const { worker, events } = open(t, { does: 'hangs' })
  await worker.start()
  assert.is(await worker.stop('stop', 1), 1)
  assert.equal(events(), ['worker_terminated'])
})

test('worker: stop before the start does nothing', async t => {
  const { worker, startCount } = open(t)
  assert.is(await worker.stop(), 0)
  assert.is(startCount(), 0)
})

test('worker: a thread is not terminated before it has loaded its modules', async () => {
  const spec = {
    name: 'scripted',
    entry: new URL('./scripted-worker.ts', import.meta.url),
    data: { does: 'loads', start: 1 },
    limits: {},
  }
  const worker = new RunningWorker(spec, error => assert.unreachable(error.message))
  const terminated = worker.terminate()
  await once(worker.thread, 'online')
  worker.thread.postMessage('loaded')
  assert.equal(await worker.ready, { start: 1 })
  await terminated
})

test.run()
