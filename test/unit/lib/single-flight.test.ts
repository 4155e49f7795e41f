import * as assert from 'uvu/assert'
import { singleFlight } from '../../../src/lib/single-flight.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('lib/single-flight')

function open() {
  const runs: { what: readonly string[]; end: PromiseWithResolvers<void> }[] = []
  const errors: unknown[] = []
  const flight = singleFlight<string>(
    what => {
      const end = Promise.withResolvers<void>()
      runs.push({ what, end })
      return end.promise
    },
    what => what,
    error => errors.push(error),
  )
  return { flight, runs, errors, requests: () => runs.map(({ what }) => what) }
}

test('single flight: requests during a run are served together by the next run, each once', async () => {
  const { flight, runs, requests } = open()
  flight.ask('a')
  for (const what of ['b', 'c', 'b', 'a']) flight.ask(what)
  assert.equal(requests(), [['a']])
  runs[0]!.end.resolve()
  await until(() => runs.length === 2)
  assert.equal(requests(), [['a'], ['b', 'c', 'a']])
  runs[1]!.end.resolve()
  await flight.stop()
})

test('single flight: a request after the last run starts another one', async () => {
  const { flight, runs, requests } = open()
  flight.ask('a')
  runs[0]!.end.resolve()
  await new Promise(setImmediate)
  flight.ask('a')
  assert.equal(requests(), [['a'], ['a']])
  runs[1]!.end.resolve()
  await flight.stop()
})

test('single flight: a run that fails is reported and does not keep the next one from running', async () => {
  const { flight, runs, errors } = open()
  flight.ask('a')
  flight.ask('b')
  runs[0]!.end.reject(new Error('no'))
  await until(() => runs.length === 2)
  assert.equal(errors, [new Error('no')])
  runs[1]!.end.resolve()
  await flight.stop()
})

test('single flight: stop waits for the run in progress and starts no other', async () => {
  const { flight, runs } = open()
  flight.ask('a')
  flight.ask('b')
  let isStopped = false
  const stopped = flight.stop().then(() => {
    isStopped = true
  })
  await new Promise(setImmediate)
  assert.not(isStopped)
  runs[0]!.end.resolve()
  await stopped
  flight.ask('c')
  assert.is(runs.length, 1)
})

test.run()
