import * as assert from 'uvu/assert'
import { attemptsOf, sentEventsOf } from '../../../../src/pipeline/webhooks/sent-events.ts'
import type { ListedDelivery } from '../../../../src/pipeline/webhooks/webhook-rows.ts'
import { deliveryRow } from '../../../../src/resources/events/outbox.ts'
import type { LoggedAttempt, WebhookDeliveryRow } from '../../../../src/store/model/schema.ts'
import { newId } from '../../../kit/new-id.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('webhooks/sent events')
const NOW = Date.parse('2026-01-01T00:00:00Z')
const [WEBHOOK, ACCOUNT] = [newId(NOW), newId(NOW)]

function delivery(changes: Partial<WebhookDeliveryRow>, eventId = newId(NOW)): ListedDelivery {
  const body = JSON.stringify({ created_at: '2026-01-01T00:00:00.000Z' })
  const fields = { webhookId: WEBHOOK, accountId: ACCOUNT, id: newId(NOW), body, at: NOW }
  return { ...deliveryRow(fields, { id: eventId, type: 'email.sent' }), dialect: null, ...changes }
}

for (const [name, changes, status, nextAttemptAt] of [
  ['is new', {}, 'pending', NOW],
  [
    'waits for another attempt',
    { attempts: 2, responseStatus: 500, nextAt: NOW + 5_000 },
    'pending',
    NOW + 5_000,
  ],
  [
    'has an attempt in progress',
    { attempts: 1, leaseUntil: NOW + 40_000, nextAt: NOW + 40_000 },
    'attempting',
    null,
  ],
  ['was accepted', { state: 1, success: 1, attempts: 1, responseStatus: 200 }, 'success', null],
  ['has no attempt left', { state: 1, attempts: 8, responseStatus: 500 }, 'failed', null],
] as const)
  test(`a delivery that ${name}: its event is ${status}`, () => {
    const [event] = sentEventsOf([delivery(changes)])
    assert.equal([event!.status, event!.nextAttemptAt], [status, nextAttemptAt])
  })

test('events are listed newest first, each once, by its newest delivery', () => {
  const [first, second] = [newId(NOW), newId(NOW)]
  const rows = [
    delivery({ state: 1, success: 1 }, first),
    delivery({}, second),
    delivery({ state: 1, responseStatus: 500 }, first),
  ]
  const events = sentEventsOf(rows)
  assert.equal(
    events.map(({ eventId, status, deliveries }) => [eventId, status, deliveries.length]),
    [
      [second, 'pending', 1],
      [first, 'success', 2],
    ],
  )
})

test('attempts of all deliveries are listed newest first, with distinct ids', () => {
  const eventId = newId(NOW)
  const log: LoggedAttempt[] = [
    { attempt: 1, startedAt: NOW, status: 500, response: 'no' },
    { attempt: 3, startedAt: NOW + 5_000, status: null, response: 'timed out' },
  ]
  const replayed = delivery(
    {
      state: 1,
      success: 1,
      attempts: 1,
      lastAttemptAt: NOW + 9_000,
      responseStatus: 200,
      responseBody: 'ok',
    },
    eventId,
  )
  const [event] = sentEventsOf([replayed, delivery({ attemptLog: JSON.stringify(log) }, eventId)])
  const attempts = attemptsOf(event!)
  assert.equal(
    attempts.map(({ attempt, startedAt, status, response }) => [attempt, startedAt - NOW, status, response]),
    [
      [1, 9_000, 200, 'ok'],
      [3, 5_000, null, 'timed out'],
      [1, 0, 500, 'no'],
    ],
  )
  assert.is(new Set(attempts.map(({ id }) => id)).size, 3)
})

test('the log has the beginning of a long response', () => {
  const row = { state: 1, lastAttemptAt: NOW, responseStatus: 500, responseBody: 'é'.repeat(4_000) }
  const [attempt] = attemptsOf(sentEventsOf([delivery(row)])[0]!)
  assert.is(attempt!.response, 'é'.repeat(1_000))
})

test('a delivery without a completed attempt has none', () => {
  for (const changes of [{}, { attempts: 1, lastAttemptAt: NOW, leaseUntil: NOW + 40_000 }])
    assert.equal(attemptsOf(sentEventsOf([delivery(changes)])[0]!), [])
})

test.run()
