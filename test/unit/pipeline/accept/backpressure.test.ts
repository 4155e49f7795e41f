import * as assert from 'uvu/assert'
import { createBackpressure } from '../../../../src/pipeline/accept/accept.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accept/backpressure')

/** Work that is under way until it is told to end. */
function watched() {
  const inFlight = createBackpressure()
  const gates = new Map<string, PromiseWithResolvers<string>>()
  return {
    underWay: () => [...gates.keys()],
    end: (name: string) => {
      gates.get(name)!.resolve(name)
      gates.delete(name)
    },
    ask: (name: string, weight: number, account = name) =>
      inFlight(account, weight, () => {
        gates.set(name, Promise.withResolvers())
        return gates.get(name)!.promise
      }),
  }
}

test('backpressure: each account may have work of weight 2,000 at the writer at the same time', async () => {
  const { ask, end, underWay } = watched()
  const first = ask('first', 1_500, 'a')
  ask('second', 501, 'a')
  ask('third', 1, 'a')
  ask('other', 2_000, 'b')
  await settled()
  assert.equal(underWay(), ['first', 'other'])
  end('first')
  assert.is(await first, 'first')
  await settled()
  assert.equal(underWay(), ['other', 'second', 'third'])
})

test('backpressure: work heavier than the share runs when its account has no other work', async () => {
  const { ask, end, underWay } = watched()
  ask('light', 1, 'a')
  ask('heavy', 1_000_000, 'a')
  await settled()
  assert.equal(underWay(), ['light'])
  end('light')
  await settled()
  assert.equal(underWay(), ['heavy'])
})

test('backpressure: failed work releases its weight', async () => {
  const inFlight = createBackpressure()
  const failing = inFlight('a', 2_000, () => Promise.reject(new Error('no')))
  const next = inFlight('a', 2_000, async () => 'yes')
  assert.is(await failing.catch(error => error.message), 'no')
  assert.is(await next, 'yes')
})

test('backpressure: the 201st waiting request of an account is refused at once, others wait', async () => {
  const { ask, end, underWay } = watched()
  ask('under way', 2_000, 'a')
  for (let i = 0; i < 200; i++) ask(`waiting ${i}`, 1, 'a')
  assert.instance(await ask('too many', 1, 'a').catch(error => error), StorageUnavailable)
  ask('other', 2_000, 'b')
  await settled()
  assert.equal(underWay(), ['under way', 'other'])
  end('under way')
  await settled()
  assert.is(underWay().length, 201)
})

test.run()
