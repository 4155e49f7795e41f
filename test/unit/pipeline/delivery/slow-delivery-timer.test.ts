import * as assert from 'uvu/assert'
import { createSlowDeliveryTimer } from '../../../../src/pipeline/delivery/slow-delivery-timer.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('slow delivery timer')

function openWatch({ fails = false } = {}) {
  const clock = createManualClock()
  const told: { emailId: Uint8Array; at: number }[] = []
  const errors: unknown[] = []
  const watch = createSlowDeliveryTimer(
    async (_, input) => {
      told.push(input as (typeof told)[number])
      if (fails) throw new Error('not stored')
      return undefined as never
    },
    clock,
    error => errors.push(error),
  )
  const delivery = (): ClaimedDelivery => ({
    emailId: newId(clock.now()),
    ordinal: 0,
    accountId: newId(1),
    address: 'a@there.test',
    domain: 'there.test',
    class: DELIVERY_CLASS.transactional,
    simulated: 0,
    attempt: 1,
    expiresAt: 0,
  })
  const begin = () => {
    const begun = delivery()
    return { delivery: begun, number: watch.begin(begun, clock.now()) }
  }
  return { clock, watch, told, errors, begin }
}

test('an attempt that ends within a second is not recorded', () => {
  const { clock, watch, told, begin } = openWatch()
  const watched = begin()
  clock.advance(900)
  watch.end(watched.number)
  clock.advance(10_000)
  assert.equal(told, [])
})

test('a longer attempt is recorded once, with its start time', () => {
  const { clock, watch, told, begin } = openWatch()
  const startedAt = clock.now()
  const watched = begin()
  clock.advance(1_500)
  assert.equal(told, [
    { accountId: watched.delivery.accountId, emailId: watched.delivery.emailId, at: startedAt },
  ])
  clock.advance(60_000)
  assert.is(told.length, 1)
  watch.end(watched.number)
})

test('attempts are timed independently', () => {
  const { clock, watch, told, begin } = openWatch()
  const slow = begin()
  clock.advance(700)
  const quick = begin()
  clock.advance(500)
  watch.end(quick.number)
  begin()
  clock.advance(400)
  assert.equal(
    told.map(({ emailId }) => emailId),
    [slow.delivery.emailId],
  )
})

test('one timer serves all attempts, and none runs when nothing is in progress', () => {
  const { clock, watch, begin } = openWatch()
  const watched = Array.from({ length: 50 }, begin)
  assert.is(clock.timerCount, 1)
  for (const { number } of watched) watch.end(number)
  clock.advance(500)
  assert.is(clock.timerCount, 0)
  begin()
  assert.is(clock.timerCount, 1)
  watch.close()
  assert.is(clock.timerCount, 0)
})

test('a command that fails is reported', async () => {
  const { clock, errors, begin } = openWatch({ fails: true })
  begin()
  clock.advance(2_000)
  await settled()
  assert.is(errors.length, 1)
})

test.run()
