import * as assert from 'uvu/assert'
import {
  type PipelineSlot,
  PipelineSlotLost,
  runPipelined,
} from '../../../../../src/pipeline/delivery/sessions/pipeline.ts'
import type { SharedSession } from '../../../../../src/pipeline/delivery/sessions/shared-session.ts'
import { settled } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('pipeline')

const session = (name: string) => ({ hostSet: name }) as SharedSession

/** A line of `a`, `b`, `c`, … whose ends and offers come when the test says so. */
function open(names: string) {
  const waiting = [...names.slice(1)]
  const begun: string[] = []
  const underWay = new Map<string, { slot: PipelineSlot; end: PromiseWithResolvers<void> }>()
  const state = { mayFollow: true, mayStillBegin: true, isOver: false }
  const line = runPipelined(names[0]!, {
    carryOut(name, slot) {
      const end = Promise.withResolvers<void>()
      begun.push(name)
      underWay.set(name, { slot, end })
      return end.promise
    },
    mayFollow: () => state.mayFollow,
    mayStillBegin: () => state.mayStillBegin,
    next: () => waiting.shift(),
  })
  line.then(() => {
    state.isOver = true
  })
  const turnOf = (name: string) => underWay.get(name)!.slot
  return {
    state,
    begun: () => begun.join(''),
    ahead: (name: string) => turnOf(name).ahead?.hostSet,
    async offer(name: string, on = `of ${name}`) {
      turnOf(name).offer(session(on))
      await settled()
    },
    async end(name: string) {
      underWay.get(name)!.end.resolve()
      await settled()
    },
    /** Starts to wait for the end of the previous delivery, and returns the state of the wait. */
    alone(name: string) {
      const wish = { state: 'waits' }
      turnOf(name)
        .previousEnded()
        .then(
          () => {
            wish.state = 'goes'
          },
          error => {
            wish.state = error instanceof PipelineSlotLost ? 'lost' : String(error)
          },
        )
      return wish
    },
  }
}

test('without an offered session, deliveries run one after another', async () => {
  const { begun, end, ahead, state } = open('abc')
  assert.is(begun(), 'a')
  await end('a')
  assert.equal([begun(), ahead('b')], ['ab', undefined])
  await end('b')
  await end('c')
  assert.equal([begun(), state.isOver], ['abc', true])
})

test('a delivery starts behind one that offers its session, and a third behind that one', async () => {
  const { begun, offer, ahead, end, state } = open('abcd')
  await offer('a')
  assert.equal([begun(), ahead('b')], ['ab', 'of a'])
  await offer('b', 'of a')
  assert.equal([begun(), ahead('c')], ['abc', 'of a'])
  await end('a')
  assert.equal([begun(), ahead('b'), ahead('c')], ['abc', undefined, 'of a'])
  for (const name of 'bcd') await end(name)
  assert.equal([begun(), state.isOver], ['abcd', true])
})

test('when none may follow, the next starts after all before it have ended', async () => {
  const { begun, offer, end, state } = open('abcd')
  await offer('a')
  state.mayFollow = false
  await offer('b')
  await end('b')
  assert.is(begun(), 'ab')
  await end('a')
  assert.is(begun(), 'abc')
})

test('the pipeline ends when all deliveries have ended, in any order', async () => {
  const { offer, end, state } = open('ab')
  await offer('a')
  await end('b')
  assert.is(state.isOver, false)
  await end('a')
  assert.is(state.isOver, true)
})

test('behind a delivery that ended early, the session of the one before it is used', async () => {
  const { begun, offer, ahead, end } = open('abc')
  await offer('a')
  await end('b')
  assert.equal([begun(), ahead('c')], ['abc', 'of a'])
  await end('a')
  assert.is(ahead('c'), undefined)
})

test('previousEnded() waits for all deliveries before it', async () => {
  const { alone, offer, end } = open('abc')
  assert.is(alone('a').state, 'waits')
  const first = alone('a')
  await offer('a')
  await offer('b')
  const third = alone('c')
  assert.is(first.state, 'goes')
  await end('b')
  assert.is(third.state, 'waits')
  await end('a')
  assert.is(third.state, 'goes')
})

test('a delivery that may not start any more loses its slot; the first one cannot lose it', async () => {
  const { alone, offer, end, state } = open('ab')
  state.mayStillBegin = false
  const first = alone('a')
  await offer('a')
  const second = alone('b')
  await end('a')
  assert.equal([first.state, second.state], ['goes', 'lost'])
})

test.run()
