import * as assert from 'uvu/assert'
import { readCause } from '../../../../src/resources/emails/explanation/cause.ts'
import {
  EXPLANATION_CODES,
  type ExplanationCode,
} from '../../../../src/resources/emails/explanation/codes.ts'
import {
  type ExplainedDelivery,
  type ExplainedFacts,
  explainCause,
  explainDelivery,
  explainEmail,
} from '../../../../src/resources/emails/explanation/explain.ts'
import { suggestedDomain } from '../../../../src/resources/emails/explanation/words.ts'
import { DELIVERY_STATE } from '../../../../src/store/model/schema.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('emails: explanation')
const NOW = Date.parse('2026-11-27T20:00:00Z')
const LATER = NOW + 300_000
const { waiting, leased, done, scheduled, held } = DELIVERY_STATE
const MX = { host: 'mx.corp.example' }

function delivery(over: Partial<ExplainedDelivery>): ExplainedDelivery {
  return {
    address: 'ben@corp.example',
    domain: 'corp.example',
    status: 'queued',
    state: waiting,
    attempts: 0,
    nextAt: NOW,
    leasedAt: null,
    expiresAt: NOW + 48 * 3_600_000,
    simulated: 0,
    ...over,
  }
}

const greylisted = { code: 'greylisted' as const, ...MX }
const delayed = { status: 'delivery_delayed' as const, attempts: 1 }

/** State, facts, and the code, the summary and the next attempt that follow. */
const STATES: readonly (readonly [
  string,
  Partial<ExplainedDelivery>,
  Partial<ExplainedFacts>,
  ExplanationCode,
  string,
  number | null,
])[] = [
  ['due', {}, {}, 'due_now', 'Due now, waiting its turn.', null],
  ['due for long', { nextAt: NOW - 60_000 }, {}, 'due_now', 'Due now, waiting its turn.', null],
  [
    ...(['deferred', { ...delayed, nextAt: LATER }, { cause: greylisted }, 'greylisted'] as const),
    ...(['mx.corp.example uses greylisting: it asks unknown senders to try again later.', LATER] as const),
  ],
  [
    ...(['deferred, due again', delayed, { cause: greylisted }, 'due_now'] as const),
    'Due now, waiting its turn. Last reason: mx.corp.example uses greylisting: it asks unknown senders to try again later.',
    null,
  ],
  [
    ...(['in progress', { state: leased, leasedAt: NOW - 60_000 }, {}, 'in_progress'] as const),
    ...(['In progress since 2026-11-27 19:59 UTC.', null] as const),
  ],
  [
    ...(['scheduled', { state: scheduled, nextAt: LATER }, {}, 'scheduled'] as const),
    ...(['Will be sent at 2026-11-27 20:05 UTC.', LATER] as const),
  ],
  [
    ...(['held by the operator', { state: held, nextAt: LATER }] as const),
    { hold: { code: 'held_by_operator', until: null, by: 'their server is down' } },
    ...(['held_by_operator', 'Held by the operator: their server is down.', null] as const),
  ],
  [
    ...(['covered by a hold, not parked yet', { ...delayed, nextAt: LATER }] as const),
    { cause: greylisted, hold: { code: 'held_automatically', until: null, by: '12 % bounced' } },
    ...(['held_automatically', 'Held automatically: 12 % bounced.', null] as const),
  ],
  [
    ...(['broadcast paused', { state: held }] as const),
    { hold: { code: 'held_by_account', until: null } },
    ...(['held_by_account', 'Held, because the broadcast is paused.', null] as const),
  ],
  [
    ...(['destination paused', {}] as const),
    { gate: { code: 'destination_paused', until: LATER, ...MX } },
    'destination_paused',
    'Sending to mx.corp.example is paused until 2026-11-27 20:05 UTC after repeated failures.',
    LATER,
  ],
  [
    ...(['pause is over', {}] as const),
    { gate: { code: 'destination_paused', until: NOW, ...MX } },
    ...(['due_now', 'Due now, waiting its turn.', null] as const),
  ],
  [
    ...(['rate limit', {}] as const),
    { gate: { code: 'rate_limited', until: null, limit: 60, ...MX } },
    'rate_limited',
    'Waiting its turn: the operator limits mail to mx.corp.example to 60 per minute.',
    null,
  ],
  [
    ...(['warm-up', {}] as const),
    { gate: { code: 'warmup_limit', until: null, ...MX } },
    'warmup_limit',
    'Waiting: the warm-up limit of the day for mx.corp.example is used up.',
    null,
  ],
  [
    ...(['disk full', {}] as const),
    { gate: { code: 'storage_full', until: null } },
    ...(['storage_full', 'Waiting: the disk of this server is full.', null] as const),
  ],
  [
    ...(['disk full, and deferred', { ...delayed, nextAt: LATER }] as const),
    { cause: greylisted, gate: { code: 'storage_full', until: null } },
    'greylisted',
    'mx.corp.example uses greylisting: it asks unknown senders to try again later.',
    LATER,
  ],
  [
    ...(['connections', {}] as const),
    { gate: { code: 'connection_limit', until: null, limit: 5, ...MX } },
    'connection_limit',
    'Waiting its turn: all 5 connections to mx.corp.example are in use.',
    null,
  ],
  [
    ...([
      'delivered',
      { status: 'delivered', state: done },
      { cause: { code: 'delivered', ...MX } },
    ] as const),
    ...(['delivered', 'mx.corp.example accepted the message.', null] as const),
  ],
  [
    ...(['complaint', { status: 'complained', state: done }, {}, 'complained'] as const),
    ...(['The recipient marked the message as spam.', null] as const),
  ],
  [
    ...(['suppressed', { status: 'suppressed', state: done }] as const),
    { cause: { code: 'suppressed', by: 'bounce' } },
    'suppressed',
    'Not sent: ben@corp.example is on the suppression list, because an email to it bounced.',
    null,
  ],
  [
    ...(['canceled', { status: 'canceled', state: done }, {}, 'canceled'] as const),
    ...(['Canceled before it was sent.', null] as const),
  ],
  [
    ...(['given up', { status: 'failed', state: done }] as const),
    { cause: { code: 'given_up', by: 'account', last: greylisted } },
    'given_up',
    'Given up by the account. Last reason: mx.corp.example uses greylisting: it asks unknown senders to try again later.',
    null,
  ],
  [
    ...(['expired', { status: 'failed', state: done }] as const),
    { cause: { code: 'expired', by: '48', last: { code: 'connection_refused', ...MX } } },
    'expired',
    'Not accepted within 48 hours. Last reason: mx.corp.example refused the connection.',
    null,
  ],
  [
    ...([
      'no such domain',
      { status: 'bounced', state: done },
      { cause: { code: 'domain_not_found' } },
    ] as const),
    ...(['domain_not_found', 'The domain corp.example does not exist.', null] as const),
  ],
  [
    ...(['null MX', { status: 'bounced', state: done }, { cause: { code: 'null_mx' } }, 'null_mx'] as const),
    ...(['The domain corp.example does not accept email (null MX).', null] as const),
  ],
  [
    ...(['no feedback', { status: 'bounced', state: done }, { isHidden: true }, 'not_reported'] as const),
    ...(['The region of the sending domain reports no delivery results.', null] as const),
  ],
  [
    ...(['simulated', { status: 'suppressed', state: done, simulated: 1 }] as const),
    { cause: { code: 'suppressed' } },
    ...(['suppressed', 'Simulated: Not sent: ben@corp.example is on the suppression list.', null] as const),
  ],
]

for (const [name, row, facts, code, summary, nextAt] of STATES)
  test(name, () => {
    const explained = explainDelivery(delivery(row), { now: NOW, ...facts })
    assert.equal(
      [explained.code, explained.summary, explained.next_attempt_at],
      [code, summary, nextAt === null ? null : new Date(nextAt).toISOString()],
    )
  })

test('a deferral without another advice says until when it is retried', () => {
  const waits = delivery({ ...delayed, nextAt: LATER })
  const actionOf = (cause: ExplainedFacts['cause'], of = waits) =>
    explainDelivery(of, { now: NOW, cause }).action
  const advice = 'Nothing to do: it is retried until 2026-11-29 20:00 UTC.'
  assert.is(actionOf({ code: 'deferred', ...MX }), advice)
  assert.is(actionOf(undefined), advice)
  assert.match(actionOf({ code: 'domain_not_found' }) ?? '', /^Check the address/)
  assert.is(actionOf({ code: 'deferred' }, { ...waits, simulated: 1 }), null)
  assert.is(actionOf({ code: 'deferred', ...MX }, delivery({ ...delayed })), null)
})

test('an email of several recipients counts them, and names the earliest attempt', () => {
  const recipients = [
    {
      status: 'delivered' as const,
      explanation: explainDelivery(delivery({ status: 'delivered' }), { now: NOW }),
    },
    {
      status: 'delivered' as const,
      explanation: explainDelivery(delivery({ status: 'delivered' }), { now: NOW }),
    },
    ...(['no_such_user', 'policy', 'domain_not_found'] as const).map(code => ({
      status: 'bounced' as const,
      explanation: explainDelivery(delivery({ status: 'bounced' }), { now: NOW, cause: { code } }),
    })),
    {
      status: 'delivery_delayed' as const,
      explanation: explainDelivery(delivery({ ...delayed, nextAt: LATER }), { now: NOW, cause: greylisted }),
    },
  ]
  assert.equal(explainEmail(recipients), {
    code: 'mixed',
    summary: '2 delivered, 3 bounced, 1 waiting',
    action: null,
    next_attempt_at: new Date(LATER).toISOString(),
  })
})

for (const [typed, meant] of [
  ['gmial.com', 'gmail.com'],
  ['gmail.con', 'gmail.com'],
  ['gmail.de', 'gmail.com'],
  ['hotmial.com', 'hotmail.com'],
  ['yaho.com', 'yahoo.com'],
  ['outlok.com', 'outlook.com'],
  ['protonmail.co', 'protonmail.com'],
  ['gmail.com', undefined],
  ['corp.example', undefined],
  ['gone.example', undefined],
] as const)
  test(`${typed} probably means ${meant}`, () => {
    assert.is(suggestedDomain(typed), meant)
  })

test('a typo is named in the action', () => {
  const { action } = explainCause({ code: 'domain_not_found' }, delivery({ domain: 'gmial.com' }))
  assert.is(action, 'Check the address for typos. Did you mean gmail.com?')
})

test('every code has words', () => {
  for (const code of Object.keys(EXPLANATION_CODES) as ExplanationCode[])
    assert.ok(explainCause({ code }, delivery({ nextAt: LATER })).summary.length > 5, code)
})

test('rows of former versions are explained by the reply and the phase', () => {
  const row = { cause: null, status: 'bounced' as const, lastReply: null, lastMxHost: null }
  const last = { outcome: 'bounced' as const, mxHost: 'mx.corp.example' }
  const by = (phase: string, reply: string) => readCause(row, { ...last, phase, reply })
  assert.equal(by('rcpt', '550 5.1.1 no such user'), { code: 'no_such_user', ...MX })
  assert.equal(by('connect', 'connect ECONNREFUSED')?.code, 'connection_failed')
  assert.equal(by('dns', 'corp.example does not exist')?.code, 'dns_failed')
  for (const status of ['suppressed', 'canceled'] as const)
    assert.equal(readCause({ ...row, status }, undefined), { code: status })
  const unsendable = { ...row, status: 'failed' as const, lastReply: 'The message is too old' }
  assert.equal(readCause(unsendable, undefined), { code: 'not_sendable' })
  for (const status of ['delivered', 'complained'] as const)
    assert.is(readCause({ ...row, status, lastReply: '250 2.0.0 ok' }, undefined), undefined, status)
})

test.run()
