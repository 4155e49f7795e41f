import * as assert from 'uvu/assert'
import { attemptHosts } from '../../../../src/pipeline/delivery/attempt.ts'
import { PipelineSlotLost, runPipelined } from '../../../../src/pipeline/delivery/sessions/pipeline.ts'
import type { FakeMxOptions } from '../../../kit/fake-mx.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { HOSTS, mailTo, open, short, wayOver } from './open-attempt.ts'

const test = suite('pipelined attempts')

/** A line of deliveries to one MX host; each is noted when it begins and when it has ended. */
async function openLine(t: TestContext, mxOptions: FakeMxOptions = {}) {
  const { options, mxs } = await open(t, HOSTS, mxOptions)
  const state = { mayStillBegin: true }
  return {
    mx: mxs[0]!,
    state,
    async send(names: readonly string[], sizes: Record<string, number> = {}, sourceOf = (_: string) => '') {
      const waiting = [...names.slice(1)]
      const course: string[] = []
      const ends: Record<string, string[] | 'lost'> = {}
      await runPipelined(names[0]!, {
        async carryOut(name, slot) {
          course.push(name)
          const address = sourceOf(name)
          const sources = address === '' ? [] : [{ address, name: null }]
          const message = mailTo(name, sizes[name] === undefined ? {} : { size: sizes[name] })
          const result = await attemptHosts(options, wayOver(['mx1.test']), message, sources, slot).catch(
            lost,
          )
          ends[name] = result === 'lost' ? result : short(result)
          course.push(`/${name}`)
        },
        mayFollow: () => true,
        mayStillBegin: () => state.mayStillBegin,
        next: () => waiting.shift(),
      })
      return { course: course.join(' '), ends }
    },
  }
}

function lost(error: unknown): 'lost' {
  if (error instanceof PipelineSlotLost) return 'lost'
  throw error
}

const DELIVERED = ['delivered', 'mx1.test final-dot 250']
const all = (names: readonly string[], end: string[]) => Object.fromEntries(names.map(name => [name, end]))

test('envelopes follow the first message on its session, a few at a time', async t => {
  const { send, mx } = await openLine(t)
  const names = [...'abcdefghij']
  const { course, ends } = await send(names)
  assert.equal(ends, all(names, DELIVERED))
  assert.match(course, /^a \/a b c d /)
  let underWay = 0
  for (const word of course.split(' ')) {
    underWay += word.startsWith('/') ? -1 : 1
    assert.ok(underWay <= 4, course)
  }
  assert.is(mx.sessionCount, 1)
  assert.equal(
    mx.messages.map(({ rcptTo }) => rcptTo[0]![0]),
    names,
  )
  assert.equal(mx.violations, [])
})

test('a refused delivery does not block those behind it', async t => {
  const { send, mx } = await openLine(t)
  const names = ['ok', 'ok2', 'perm-550-511', 'data-554', 'dot-451', 'ok3', 'ok4']
  const { ends } = await send(names)
  assert.equal(
    names.map(name => ends[name]!.at(-1)),
    [
      'mx1.test final-dot 250',
      'mx1.test final-dot 250',
      'mx1.test rcpt 550',
      'mx1.test data 554',
      'mx1.test final-dot 451',
      'mx1.test final-dot 250',
      'mx1.test final-dot 250',
    ],
  )
  assert.equal([mx.sessionCount, mx.messages.length, mx.violations.length], [1, 4, 0])
})

test('when a message ends the session, those behind it use the next one, without a host attempt', async t => {
  const { send, mx } = await openLine(t)
  const names = ['a', 'b', 'drop-after-dot', 'c', 'd']
  const { ends } = await send(names)
  assert.equal(ends['drop-after-dot']![0], 'deferred unknown')
  for (const name of ['a', 'b', 'c', 'd']) assert.equal(ends[name], DELIVERED, name)
  assert.is(mx.sessionCount, 2)
  assert.equal(
    mx.messages.map(({ sessionId }) => sessionId),
    [1, 1, 2, 2],
  )
})

test('deliveries that may not start any more are not attempted', async t => {
  const { send, mx, state } = await openLine(t, {
    at: {
      dot(times) {
        state.mayStillBegin = times < 2
        return times < 2 ? undefined : '421 4.7.0 too many messages'
      },
    },
  })
  const { ends } = await send(['a', 'b', 'c', 'd', 'e'])
  assert.equal([ends.a, ends.b, ends.d, ends.e], [DELIVERED, DELIVERED, 'lost', 'lost'])
  assert.is(ends.c![0], 'deferred rate-limited')
  assert.equal([mx.sessionCount, mx.triesOf('d@there.test') + mx.triesOf('e@there.test')], [1, 0])
})

test('a peer that loses a pipelined envelope gets it again, and nothing is pipelined to it from then on', async t => {
  const { send, mx } = await openLine(t, { at: { mail: times => (times === 2 ? 'drop' : undefined) } })
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const { ends, course } = await send(names)
  assert.equal(ends, all(names, DELIVERED))
  assert.is(mx.messages.length, 6)
  assert.is(course.slice(course.indexOf('/d')), '/d e /e f /f')
})

test('nothing is pipelined behind a large message', async t => {
  const { send } = await openLine(t)
  const { course } = await send(['a', 'b', 'c'], { b: 256 * 1024 + 1 })
  assert.is(course, 'a /a b /b c /c')
})

test('a delivery from another source address waits, and uses its own session', async t => {
  const { send, mx } = await openLine(t)
  const { ends } = await send(['a', 'b', 'c'], {}, name => (name === 'c' ? '127.0.0.78' : '127.0.0.77'))
  assert.equal(ends, all(['a', 'b', 'c'], DELIVERED))
  assert.equal(
    mx.messages.map(({ clientAddress }) => clientAddress),
    ['127.0.0.77', '127.0.0.77', '127.0.0.78'],
  )
})

test.run()
