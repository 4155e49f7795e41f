import * as assert from 'uvu/assert'
import { createDueIndex } from '../../../../src/pipeline/queue/due-index.ts'
import type { DueQueueKey } from '../../../../src/pipeline/queue/queue-key-rows.ts'
import { queueKeyText } from '../../../../src/store/model/command.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('queue/due-index')
const accountId = new Uint8Array(16).fill(1)
const HOUR_MS = 3_600_000

/** A book whose due queue keys are written down, and served only when a test says so. */
function openBook() {
  const clock = createManualClock()
  const due: { domain: string; at: number }[] = []
  const book = createDueIndex(clock, ({ domain }) => due.push({ domain, at: clock.now() }))
  const queueKey = (domain: string, inMs = 0): DueQueueKey => ({
    domain,
    class: 0,
    accountId,
    at: clock.now() + inMs,
  })
  return {
    clock,
    book,
    note: (domain: string, inMs = 0) => book.note(queueKey(domain, inMs)),
    /** Domains of the queue keys handed out since the last look. */
    handedOut: () => due.splice(0).map(({ domain }) => domain),
    /** The same with the wall time at which each was handed out. */
    handedOutAt: () => due.splice(0),
    serve(domain: string, nextInMs: number | null) {
      const booked = { ...queueKey(domain), key: queueKeyText(queueKey(domain)) }
      book.served(booked, nextInMs === null ? null : clock.now() + nextInMs)
    },
  }
}

test('due index: a due queue key is returned at once, another at its time', () => {
  const { clock, note, handedOut } = openBook()
  note('now.test')
  note('late.test', -HOUR_MS)
  note('soon.test', 500)
  assert.equal(handedOut(), ['now.test', 'late.test'])
  clock.advance(499)
  assert.equal(handedOut(), [])
  clock.advance(1)
  assert.equal(handedOut(), ['soon.test'])
})

test('due index: the index has at most one timer, and none after close', () => {
  const { clock, book, note } = openBook()
  note('late.test', HOUR_MS)
  note('now.test')
  note('soon.test', 500)
  assert.is(clock.timerCount, 1)
  book.close()
  assert.is(clock.timerCount, 0)
})

test('due index: queue keys are returned in the order of their times', () => {
  const { clock, note, handedOut } = openBook()
  for (const [domain, ms] of [
    ['c', 300],
    ['a', 100],
    ['d', 400],
    ['b', 200],
  ] as const)
    note(domain, ms)
  clock.advance(HOUR_MS)
  assert.equal(handedOut(), ['a', 'b', 'c', 'd'])
})

test('due index: a queue key is not returned again until it is served', () => {
  const { clock, note, handedOut, serve } = openBook()
  note('a.test')
  note('a.test')
  note('a.test', -5)
  clock.advance(HOUR_MS)
  assert.equal(handedOut(), ['a.test'])
  serve('a.test', 0)
  assert.equal(handedOut(), ['a.test'])
})

test('due index: an earlier time replaces a later one, a later time has no effect', () => {
  const { clock, note, handedOut, book } = openBook()
  note('a.test', 10_000)
  note('a.test', 1_000)
  note('a.test', 5_000)
  assert.is(book.size(), 1)
  clock.advance(1_000)
  assert.equal(handedOut(), ['a.test'])
  clock.advance(HOUR_MS)
  assert.equal(handedOut(), [])
})

test('due index: a time that was replaced does not return a queue key early', () => {
  const { clock, note, handedOut, serve } = openBook()
  note('a.test', 5_000)
  note('a.test', 1_000)
  clock.advance(1_000)
  assert.equal(handedOut(), ['a.test'])
  serve('a.test', 10_000)
  clock.advance(9_999)
  assert.equal(handedOut(), [])
  clock.advance(1)
  assert.equal(handedOut(), ['a.test'])
})

test('due index: a time that was replaced and is noted again does not return a queue key that is being served', () => {
  const { clock, note, handedOut, serve } = openBook()
  note('a.test', 5_000)
  note('a.test', 1_000)
  clock.advance(1_000)
  assert.equal(handedOut(), ['a.test'])
  note('a.test', 4_000)
  clock.advance(4_000)
  assert.equal(handedOut(), [])
  serve('a.test', null)
  assert.equal(handedOut(), ['a.test'])
})

test('due index: a time noted while a queue key is served counts afterwards', () => {
  const { clock, note, handedOut, serve } = openBook()
  note('a.test')
  note('b.test')
  note('c.test')
  handedOut()
  note('a.test', 200)
  note('b.test', 0)
  note('c.test', 500)
  serve('a.test', 300)
  serve('b.test', null)
  serve('c.test', 100)
  assert.equal(handedOut(), ['b.test'])
  clock.advance(100)
  assert.equal(handedOut(), ['c.test'])
  clock.advance(100)
  assert.equal(handedOut(), ['a.test'])
})

test('due index: a queue key without waiting deliveries is removed', () => {
  const { note, serve, book, handedOut, clock } = openBook()
  note('a.test')
  note('b.test', 100)
  assert.is(book.size(), 2)
  serve('a.test', null)
  assert.is(book.size(), 1)
  handedOut()
  clock.advance(100)
  serve('b.test', null)
  assert.is(book.size(), 0)
  assert.is(clock.timerCount, 0)
})

test('due index: serving a queue key twice, or one that was not returned, has no effect', () => {
  const { note, serve, handedOut, book } = openBook()
  serve('a.test', 0)
  note('a.test')
  serve('a.test', HOUR_MS)
  serve('a.test', 0)
  serve('b.test', 0)
  assert.equal(handedOut(), ['a.test'])
  assert.is(book.size(), 1)
})

test('due index: domain, class and account identify a queue key', () => {
  const other = new Uint8Array(16).fill(2)
  const keys = [
    queueKeyText({ domain: 'a.test', class: 0, accountId }),
    queueKeyText({ domain: 'b.test', class: 0, accountId }),
    queueKeyText({ domain: 'a.test', class: 2, accountId }),
    queueKeyText({ domain: 'a.test', class: 0, accountId: other }),
  ]
  assert.is(new Set(keys).size, 4)
})

test('due index: one timer serves any number of queue keys', () => {
  const { clock, note } = openBook()
  for (let i = 0; i < 100; i++) note(`d${i}.test`, 1_000 + ((i * 37) % 100))
  assert.is(clock.timerCount, 1)
  clock.advance(10_000)
  assert.is(clock.timerCount, 0)
})

test('due index: due queue keys are found within ten seconds after the wall clock jumps forward', () => {
  const { clock, note, handedOut } = openBook()
  note('a.test', 4 * HOUR_MS)
  clock.jump(5 * HOUR_MS)
  assert.equal(handedOut(), [])
  clock.advance(10_000)
  assert.equal(handedOut(), ['a.test'])
})

test('due index: a queue key waits for its wall time after the wall clock jumps back', () => {
  const { clock, note, handedOut } = openBook()
  note('a.test', 2_000)
  clock.jump(-60_000)
  clock.advance(61_999)
  assert.equal(handedOut(), [])
  clock.advance(10_000)
  assert.equal(handedOut(), ['a.test'])
})

test('due index: a closed index has no timer and starts none', () => {
  const { clock, book, note, serve, handedOut } = openBook()
  note('served.test')
  note('sleeping.test', HOUR_MS)
  book.close()
  assert.is(clock.timerCount, 0)
  serve('served.test', HOUR_MS)
  note('new.test', 100)
  assert.is(clock.timerCount, 0)
  assert.equal(handedOut(), ['served.test'])
})

test('due index: in any order of calls, no queue key is lost, returned twice or before its time', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('note' as const),
      queueKey: fc.nat(3),
      ms: fc.integer({ min: -50, max: 30_000 }),
    }),
    fc.record({
      kind: fc.constant('serve' as const),
      queueKey: fc.nat(3),
      ms: fc.integer({ min: 0, max: 30_000 }),
    }),
    fc.record({ kind: fc.constant('advance' as const), queueKey: fc.nat(0), ms: fc.nat(20_000) }),
    fc.record({
      kind: fc.constant('jump' as const),
      queueKey: fc.nat(0),
      ms: fc.integer({ min: -20_000, max: 20_000 }),
    }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const { clock, note, serve, handedOutAt, book } = openBook()
      const serving = new Set<string>()
      /** The earliest time that was noted for each. */
      const waiting = new Map<string, number>()
      const wait = (domain: string, ms: number) =>
        waiting.set(domain, Math.min(waiting.get(domain) ?? Number.POSITIVE_INFINITY, clock.now() + ms))
      const check = () => {
        for (const { domain, at } of handedOutAt()) {
          assert.not(serving.has(domain), `${domain} was handed out twice`)
          assert.ok(waiting.has(domain), `${domain} was handed out unasked`)
          assert.ok(at >= waiting.get(domain)!, `${domain} was handed out early`)
          waiting.delete(domain)
          serving.add(domain)
        }
      }
      for (const { kind, queueKey, ms } of steps) {
        const domain = `d${queueKey}`
        if (kind === 'note') {
          wait(domain, ms)
          note(domain, ms)
        } else if (kind === 'serve' && serving.delete(domain)) {
          wait(domain, ms)
          serve(domain, ms)
        } else if (kind === 'advance') clock.advance(ms)
        else if (kind === 'jump') clock.jump(ms)
        check()
      }
      for (let rounds = 0; book.size() > 0 && rounds < 10; rounds++) {
        for (const domain of [...serving]) {
          serving.delete(domain)
          serve(domain, null)
        }
        clock.advance(HOUR_MS)
        check()
      }
      assert.equal([...waiting.keys()], [])
      assert.equal([book.size(), clock.timerCount], [0, 0])
    }),
    { seed: 20261121, numRuns: 500 },
  )
})

test.run()
