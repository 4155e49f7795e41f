import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createReadyQueue } from '../../../../src/pipeline/delivery/shaping/ready-queue.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { newId } from '../../../kit/new-id.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('delivery/ready-queue')
const { transactional } = DELIVERY_CLASS
const OTHER_CLASS = transactional + 1

function setUp(deliveryClass: number, ...claimed: readonly (readonly [name: string, count: number])[]) {
  const waiting = { count: 0 }
  const queue = createReadyQueue(waiting)
  const accounts = new Map<string, Id>()
  const nameOf = ({ accountId }: ClaimedDelivery) => [...accounts].find(([, id]) => id === accountId)![0]
  for (const [name, count] of claimed) {
    const accountId = accounts.get(name) ?? newId(0)
    accounts.set(name, accountId)
    const one = { accountId, class: deliveryClass }
    queue.put(Array.from({ length: count }, (_, ordinal) => ({ ...one, ordinal }) as ClaimedDelivery))
  }
  const take = (mayGo: (name: string) => boolean = () => true) => {
    const next = queue.next(
      () => true,
      id => mayGo([...accounts].find(([, other]) => other === id)![0]),
    )
    return next && `${nameOf(next)} ${next.ordinal}`
  }
  return { queue, waiting, take, nameOf }
}

for (const deliveryClass of [transactional, OTHER_CLASS])
  test(`class ${deliveryClass}: one delivery of another account waits for one of each account before it`, () => {
    const { take } = setUp(deliveryClass, ['eve', 150], ['mal', 150], ['ann', 2])
    const order = Array.from({ length: 7 }, () => take())
    assert.equal(order, ['eve 0', 'mal 0', 'ann 0', 'eve 1', 'mal 1', 'ann 1', 'eve 2'])
  })

test('deliveries of one account keep their order', () => {
  const { take, waiting } = setUp(transactional, ['ann', 3])
  assert.equal([take(), take(), take(), take()], ['ann 0', 'ann 1', 'ann 2', undefined])
  assert.is(waiting.count, 0)
})

test('an account that has as many deliveries in progress as it may have is passed over, and keeps its turn', () => {
  const { take } = setUp(transactional, ['eve', 2], ['ann', 2])
  assert.is(
    take(name => name !== 'eve'),
    'ann 0',
  )
  assert.equal([take(), take()], ['eve 0', 'ann 1'])
  assert.is(
    take(() => false),
    undefined,
  )
})

test('deliveries that were taken back are not served', () => {
  const { queue, waiting, take, nameOf } = setUp(transactional, ['eve', 50], ['ann', 1])
  assert.is(queue.clear(delivery => nameOf(delivery) === 'eve').length, 50)
  assert.is(waiting.count, 1)
  assert.equal([take(), take()], ['ann 0', undefined])
})

test.run()
