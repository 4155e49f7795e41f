import * as assert from 'uvu/assert'
import type { Result, Statement } from '../../../src/store/postgres/connection.ts'
import { createWrites } from '../../../src/store/postgres/writes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/postgres writes')
const RESULT: Result = { rows: [], rowCount: 0, command: 'INSERT' }

/** A connection whose answers come when a test wants them, in the order of the questions. */
function connection() {
  const requests: { sql: string; answer: PromiseWithResolvers<Result> }[] = []
  const query = ({ sql }: Statement) => {
    const answer = Promise.withResolvers<Result>()
    requests.push({ sql, answer })
    return answer.promise
  }
  const answerAll = (failing: Record<string, string> = {}) => {
    for (const { sql, answer } of requests.splice(0))
      if (failing[sql] === undefined) answer.resolve(RESULT)
      else answer.reject(new Error(failing[sql]))
  }
  return { ...createWrites(query), requests: () => requests.map(({ sql }) => sql), answerAll }
}

const message = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: Error) => error.message,
  )

test('pipelined writes: statements are sent at once, in order, without waiting', async () => {
  const { write, query, requests, answerAll } = connection()
  await write({ sql: 'a' })
  await write({ sql: 'b' })
  const reading = query({ sql: 'c' })
  assert.equal(requests(), ['a', 'b', 'c'])
  answerAll()
  assert.is(await reading, RESULT)
})

test('pipelined writes: done resolves after the last statement', async () => {
  const { write, done, requests, answerAll } = connection()
  await write({ sql: 'a' })
  let isDone = false
  const finishing = done().then(() => {
    isDone = true
  })
  await new Promise(setImmediate)
  assert.equal([isDone, requests()], [false, ['a']])
  answerAll()
  await finishing
})

test('pipelined writes: the first error is reported to the next query or to done', async () => {
  const failing = { b: 'b is wrong', c: 'the transaction is aborted', d: 'the transaction is aborted' }
  for (const wait of ['query', 'done'] as const) {
    const { write, query, done, answerAll } = connection()
    for (const sql of ['a', 'b', 'c']) await write({ sql })
    const waiting = message(wait === 'done' ? done() : query({ sql: 'd' }))
    answerAll(failing)
    assert.is(await waiting, 'b is wrong')
    const next = message(done())
    answerAll()
    assert.is(await next, 'done', 'it is told once')
  }
})

test('pipelined writes: a failing query reports its error', async () => {
  const { write, query, answerAll } = connection()
  await write({ sql: 'a' })
  const asking = message(query({ sql: 'b' }))
  answerAll({ b: 'b is wrong' })
  assert.is(await asking, 'b is wrong')
})

test('pipelined writes: dropped waits for all statements and ignores their errors', async () => {
  const { write, done, dropped, answerAll } = connection()
  await write({ sql: 'a' })
  const giving = message(dropped())
  answerAll({ a: 'a is wrong' })
  assert.equal([await giving, await message(done())], ['done', 'done'])
})

test.run()
