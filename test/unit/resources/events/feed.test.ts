import * as assert from 'uvu/assert'
import { firstIdAt, type Id, idTime } from '../../../../src/lib/ids.ts'
import { TooManyWaiting } from '../../../../src/lib/semaphore.ts'
import { EventFeed, type Following } from '../../../../src/resources/events/feed.ts'
import { recordEvents } from '../../../../src/resources/events/record.ts'
import { command } from '../../../../src/store/model/command.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock, type ManualClock } from '../../../kit/manual-clock.ts'
import { openLocalStore, STORE_EPOCH } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('events/feed')
const ACCOUNT = newId(STORE_EPOCH)

async function open(t: TestContext, { isShared = false } = {}) {
  const store = await t.using(
    openLocalStore({
      record: command<{ count: number; at: number }, void>((tx, { count, at }) =>
        recordEvents(
          tx,
          Array.from({ length: count }, () => ({
            ...{ accountId: ACCOUNT, subjectId: newId(at), type: 'email.sent' as const, recipient: null },
            ...{ data: {}, at, origin: null },
          })),
        ),
      ),
    }),
  )
  const clock = createManualClock(STORE_EPOCH)
  let readCount = 0
  const db = new Proxy(store.db, {
    get(target, key) {
      if (key === 'selectFrom') readCount++
      const value = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const feed = new EventFeed({ db, find: store.find, clock, isShared })
  t.after(() => feed.close())
  const record = (count: number, at = clock.now()) => store.run('record', { count, at })
  return { feed, clock, record, reads: () => readCount }
}

/** Reads in the background what it is given. */
function reading({ batches, end }: Following) {
  const sizes: number[] = []
  const ids: Id[] = []
  const isOver = (async () => {
    for await (const batch of batches) {
      sizes.push(batch.length)
      ids.push(...batch.map(({ id }) => id))
    }
    return true
  })()
  return { sizes, ids, end, isOver }
}

/** Lets those who wait look once more, and see what there is. */
async function nextLook(clock: ManualClock) {
  await until(() => clock.timerCount === 1)
  clock.advance(500)
  await until(() => clock.timerCount === 1)
}

test('event feed: subscribers with the same cursor share a query', async t => {
  const { feed, clock, record, reads } = await open(t)
  const followings = await Promise.all(Array.from({ length: 20 }, () => feed.follow(ACCOUNT, firstIdAt(0))))
  const readers = followings.map(reading)
  await until(() => clock.timerCount === 1)
  const before = reads()
  await record(3)
  clock.advance(500)
  await until(() => readers.every(({ sizes }) => sizes.length > 0))
  assert.equal(
    readers.map(({ sizes }) => sizes),
    Array(20).fill([3]),
  )
  assert.ok(reads() - before <= 2, `${reads() - before}`)
})

test('event feed: many events arrive in batches, in order, each once', async t => {
  const { feed, record } = await open(t)
  await record(2_050)
  const { sizes, ids } = reading(await feed.follow(ACCOUNT, firstIdAt(0)))
  await until(() => ids.length >= 2_050)
  assert.equal(sizes, [...Array(10).fill(200), 50])
  assert.is(new Set(ids.map(id => Buffer.from(id).toString('hex'))).size, 2_050)
  assert.equal(ids, ids.toSorted(Buffer.compare))
})

for (const earlierCount of [0, 1, 250])
  test(`event feed: events after the subscription are delivered, with ${earlierCount} before it, even before the first read`, async t => {
    const { feed, clock, record } = await open(t)
    if (earlierCount > 0) await record(earlierCount)
    const following = await feed.follow(ACCOUNT, undefined)
    await record(2)
    const { sizes } = reading(following)
    await until(() => clock.timerCount === 1)
    assert.equal(sizes, [2])
  })

test('event feed: an empty batch arrives after 15 s without events', async t => {
  const { feed, clock } = await open(t)
  const { sizes } = reading(await feed.follow(ACCOUNT, undefined))
  for (let i = 0; i < 62; i++) await nextLook(clock)
  assert.equal(sizes, [0, 0])
})

test('event feed: events of other processes are delivered after 2 s', async t => {
  const { feed, clock, record } = await open(t, { isShared: true })
  const { sizes, ids } = reading(await feed.follow(ACCOUNT, undefined))
  await until(() => clock.timerCount === 1)
  await record(2)
  for (let i = 0; i < 4; i++) await nextLook(clock)
  assert.equal(sizes, [])
  await nextLook(clock)
  await nextLook(clock)
  assert.equal([sizes, ids.map(idTime)], [[2], [STORE_EPOCH, STORE_EPOCH]])
})

test('event feed: it does not poll without subscribers, whose number is limited', async t => {
  const { feed, clock } = await open(t)
  const followings = await Promise.all(Array.from({ length: 50 }, () => feed.follow(ACCOUNT, undefined)))
  const all = followings.map(reading)
  await until(() => clock.timerCount === 1)
  for (let i = 0; i < 450; i++) {
    const refused: unknown = await feed.follow(ACCOUNT, undefined).catch(error => error)
    assert.instance(refused, TooManyWaiting)
  }
  const other = await feed.follow(newId(STORE_EPOCH), undefined)
  other.end()
  for (const { end } of all) end()
  clock.advance(500)
  assert.ok((await Promise.all(all.map(({ isOver }) => isOver))).every(Boolean))
  assert.is(clock.timerCount, 0)
  const again = await feed.follow(ACCOUNT, undefined)
  again.end()
})

test.run()
