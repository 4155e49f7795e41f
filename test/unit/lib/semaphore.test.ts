import * as assert from 'uvu/assert'
import { createSemaphore, TooManyWaiting } from '../../../src/lib/semaphore.ts'
import { settled } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/semaphore')

/** Tasks that run until they are let go, each by its name. */
function openTasks(running: number, waiting: number) {
  const semaphore = createSemaphore(running, waiting)
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const began: string[] = []
  return {
    began,
    run: (name: string) =>
      semaphore.run(() => {
        began.push(name)
        const end = Promise.withResolvers<string>()
        ends.set(name, end)
        return end.promise
      }),
    async end(name: string, error?: Error) {
      if (error) ends.get(name)!.reject(error)
      else ends.get(name)!.resolve(`end of ${name}`)
      await settled()
    },
  }
}

test('semaphore: tasks run up to the limit, the others in order', async () => {
  const { run, end, began } = openTasks(2, 10)
  const results = ['a', 'b', 'c', 'd'].map(run)
  await settled()
  assert.equal(began, ['a', 'b'])
  await end('b')
  assert.equal(began, ['a', 'b', 'c'])
  await end('a')
  assert.equal(began, ['a', 'b', 'c', 'd'])
  await end('c')
  await end('d')
  assert.equal(await Promise.all(results), ['end of a', 'end of b', 'end of c', 'end of d'])
})

test('semaphore: a task beyond the waiting limit is refused at once', async () => {
  const { run, end, began } = openTasks(1, 1)
  const [a, b] = [run('a'), run('b')]
  await run('c').then(
    () => assert.unreachable(),
    error => assert.instance(error, TooManyWaiting),
  )
  await end('a')
  await end('b')
  await Promise.all([a, b])
  assert.equal(began, ['a', 'b'])
})

test('semaphore: a failing task releases its slot', async () => {
  const { run, end, began } = openTasks(1, 5)
  const a = run('a').catch(error => error.message)
  const b = run('b')
  await end('a', new Error('broken'))
  assert.is(await a, 'broken')
  assert.equal(began, ['a', 'b'])
  await end('b')
  await b
})

test('semaphore: a free slot is taken at once and never twice', async () => {
  const { run, end, began } = openTasks(1, 5)
  const a = run('a')
  const b = run('b')
  await end('a')
  const c = run('c')
  await settled()
  assert.equal(began, ['a', 'b'])
  await end('b')
  await end('c')
  await Promise.all([a, b, c])
  const d = run('d')
  await end('d')
  assert.is(await d, 'end of d')
})

test('semaphore: a waiting limit of zero refuses at once', async () => {
  const { run, end } = openTasks(1, 0)
  const a = run('a')
  await run('b').then(
    () => assert.unreachable(),
    error => assert.instance(error, TooManyWaiting),
  )
  await end('a')
  await a
})

test.run()
