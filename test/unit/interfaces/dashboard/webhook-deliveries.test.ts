import * as assert from 'uvu/assert'
import { replacedDeliveries } from '../../../../src/interfaces/dashboard/web/labels/webhook-deliveries.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: replaced webhook deliveries')

const failed = { success: false, attempts: 1, next_attempt_at: null }

test('a delivery that did not succeed is replaced by a newer one of its event', () => {
  const newestFirst = [
    { ...failed, id: 'resent', event_id: 'a', attempts: 0, next_attempt_at: '2026-11-30T09:00:00.000Z' },
    { ...failed, id: 'other', event_id: 'b' },
    { ...failed, id: 'original', event_id: 'a' },
  ]
  assert.equal([...replacedDeliveries(newestFirst)], ['original'])
})

test('a delivery that succeeded, or waits for its next attempt, is not replaced', () => {
  const newestFirst = [
    { ...failed, id: 'resent', event_id: 'a' },
    { ...failed, id: 'waits', event_id: 'a', next_attempt_at: '2026-11-30T09:00:00.000Z' },
    { ...failed, id: 'delivered', event_id: 'a', success: true },
  ]
  assert.equal([...replacedDeliveries(newestFirst)], [])
})

test.run()
