import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createSubscriberCache } from '../../../../src/store/model/subscribers.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('store/subscribers')

const account = (number: number): Id => Uint8Array.from({ length: 16 }, (_, i) => number >> (8 * i))

/** A cache, and how many queries its database has had. */
function open() {
  let count = 0
  const query: object = {
    select: () => query,
    where: () => query,
    async execute() {
      count++
      return []
    },
  }
  const db = { selectFrom: () => query } as never
  const cache = createSubscriberCache()
  return { cache, ask: (...numbers: number[]) => cache.of(db, numbers.map(account)), queries: () => count }
}

test('subscriptions are looked up once for each edition, and again after a change was undone', async () => {
  const { cache, ask, queries } = open()
  cache.begin('1')
  await ask(1, 2)
  cache.begin('1')
  await ask(2, 1)
  assert.is(queries(), 1)
  cache.begin('2')
  await ask(1)
  assert.is(queries(), 2)
  cache.forget()
  await ask(1)
  assert.is(queries(), 3)
})

test('accounts are looked up in batches of 500', async () => {
  for (const [accounts, batches] of [
    [500, 1],
    [501, 2],
  ] as const) {
    const { ask, queries } = open()
    await ask(...Array.from({ length: accounts }, (_, i) => i + 1))
    assert.is(queries(), batches)
  }
})

test.run()
