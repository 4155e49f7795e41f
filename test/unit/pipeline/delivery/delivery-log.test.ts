import * as assert from 'uvu/assert'
import { createLog, type LogLevel } from '../../../../src/lib/log.ts'
import { createDeliveryLog } from '../../../../src/pipeline/delivery/delivery-log.ts'
import type { AttemptResult } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import type { OperatorAlertRow } from '../../../../src/store/model/schema/alerts.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('delivery log')

const DELIVERY = { emailId: new Uint8Array(16), address: 'a@there.test', attempt: 2 } as ClaimedDelivery
const RETRY_AT = Date.UTC(2026, 10, 21, 13)

function open(level: LogLevel = 'info') {
  const lines: Record<string, unknown>[] = []
  const log = createLog(level, { write: line => void lines.push(JSON.parse(line)) })
  return { events: createDeliveryLog(log), lines }
}

function result(kind: AttemptResult['kind']): AttemptResult {
  return { kind, class: 'unknown', phase: 'rcpt', reply: null, text: '451 later', hostAttempts: [] }
}

test('a paused destination is logged with its source address and the time of the retry', () => {
  const { events, lines } = open()
  const state = { until: RETRY_AT, ms: 60_000, reason: '421 busy' }
  events.destinationPaused({ destination: 'google', source: '192.0.2.1' }, state)
  events.destinationPaused({ destination: 'google', source: '' }, state)
  assert.equal(
    lines.map(({ event, destination, source_ip, retry_at, reason }) => [
      event,
      destination,
      source_ip,
      retry_at,
      reason,
    ]),
    [
      ['destination_paused', 'google', '192.0.2.1', '2026-11-21T13:00:00.000Z', '421 busy'],
      ['destination_paused', 'google', undefined, '2026-11-21T13:00:00.000Z', '421 busy'],
    ],
  )
})

test('attempts are logged at level info, delivered ones at level debug', () => {
  for (const [level, expected] of [
    ['info', ['deferred']],
    ['debug', ['deferred', 'delivered']],
  ] as const) {
    const { events, lines } = open(level)
    events.attemptFinished(DELIVERY, result('deferred'))
    events.attemptFinished(DELIVERY, result('delivered'))
    assert.equal(
      lines.map(({ outcome }) => outcome),
      expected,
    )
    assert.is(lines[0]!.event, 'delivery_attempt_finished')
    assert.equal([lines[0]!.recipient, lines[0]!.attempt, lines[0]!.mx_host], ['a@there.test', 2, null])
  }
})

test('an alert is logged with the source address, or none if it is about the host', () => {
  const { events, lines } = open()
  const alert = { kind: 'listed', provider: 'google', mxHost: 'mx.there.test', reply: '550 listed' }
  for (const sourceIp of ['192.0.2.1', '']) events.alertRaised({ ...alert, sourceIp } as OperatorAlertRow)
  assert.equal(
    lines.map(({ event, kind, source_ip }) => [event, kind, source_ip]),
    [
      ['operator_alert_raised', 'listed', '192.0.2.1'],
      ['operator_alert_raised', 'listed', null],
    ],
  )
})

test('an error is logged with its delivery, if there is one', () => {
  const { events, lines } = open()
  events.stepFailed(new Error('disk full'), DELIVERY)
  events.stepFailed(new Error('disk full'))
  assert.equal(
    lines.map(({ event, recipient }) => [event, recipient]),
    [
      ['delivery_step_failed', 'a@there.test'],
      ['delivery_step_failed', undefined],
    ],
  )
})

test('DANE: turning on is information, turning off is an error with its reason', () => {
  const { events, lines } = open()
  const dns = { validatingResolver: '127.0.0.1', signedName: 'org' }
  events.daneChanged(true, dns, '')
  events.daneChanged(false, dns, 'the answer is not validated')
  assert.equal(
    lines.map(({ level, event, resolver, signed_name, reason }) => [
      level,
      event,
      resolver,
      signed_name,
      reason,
    ]),
    [
      ['info', 'dane_enabled', '127.0.0.1', undefined, undefined],
      ['error', 'dane_disabled', '127.0.0.1', 'org', 'the answer is not validated'],
    ],
  )
})

test('each failure of a delivery thread has an event of its own', () => {
  const { events, lines } = open()
  const error = new Error('disk full')
  events.warmupGrantFailed(error)
  events.rateLimitsReadFailed(error)
  events.sourceNameInvalid('192.0.2.1', '192.0.2.1 has no PTR record')
  events.sourceNameCheckFailed(error)
  events.stsPolicyUnavailable('there.test', { type: 'sts-policy-invalid', fault: 'no version' })
  events.stsPolicyUpdateFailed(error)
  events.tlsResultsStoreFailed(error)
  events.fileNotRemoved(error)
  events.leaseRenewalFailed(error)
  events.resultsNotStored(3)
  events.stopFailed(error)
  assert.equal(
    lines.map(({ event }) => event),
    [
      'warmup_grant_failed',
      'rate_limits_read_failed',
      'source_name_invalid',
      'source_name_check_failed',
      'mta_sts_policy_unavailable',
      'mta_sts_policy_update_failed',
      'tls_results_store_failed',
      'file_not_removed',
      'lease_renewal_failed',
      'delivery_results_not_stored',
      'delivery_worker_stop_failed',
    ],
  )
})

test.run()
