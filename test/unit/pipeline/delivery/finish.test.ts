import * as assert from 'uvu/assert'
import { wireId } from '../../../../src/lib/ids.ts'
import { entriesOf } from '../../../../src/pipeline/delivery/message/signature-fingerprint.ts'
import type { AttemptResult } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import { type FinishFacts, finishOf } from '../../../../src/pipeline/delivery/outcome/finish.ts'
import type { HostAttempt } from '../../../../src/pipeline/delivery/outcome/host-attempt.ts'
import type { Finish } from '../../../../src/pipeline/queue/commands.ts'
import type { BounceClass } from '../../../../src/protocols/bounces/rules/bounce-class.ts'
import { replyOf } from '../../../../src/protocols/smtp/reply.ts'
import { readRecord } from '../../../../src/resources/emails/attempt-record.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { HOUR_MS, newId } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('finish')
const ACCEPTED_AT = Date.UTC(2026, 10, 21, 13)
const middle = () => 0.5

const delivery: ClaimedDelivery = {
  emailId: newId(ACCEPTED_AT),
  ordinal: 2,
  accountId: newId(1),
  address: 'a@there.test',
  domain: 'there.test',
  class: DELIVERY_CLASS.transactional,
  simulated: 0,
  attempt: 1,
  expiresAt: ACCEPTED_AT + 48 * HOUR_MS,
}

const hostAttempt = (host: string, reply: string): HostAttempt => ({
  host,
  ip: '192.0.2.1',
  phase: 'rcpt',
  reply,
  tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: false, reason: 'CERT_HAS_EXPIRED' },
  tlsFallback: null,
  policy: 'none',
  phases: [['connect', 3, null]],
})

function endingOf(
  kind: AttemptResult['kind'],
  line: string,
  over: Partial<AttemptResult> = {},
): AttemptResult {
  const code = Number(line.slice(0, 3))
  const { hostAttempts = [hostAttempt('mx.there.test', line)] } = over
  const by = hostAttempts.at(-1)
  return {
    kind,
    class: 'unknown',
    phase: 'rcpt',
    reply: code > 0 ? replyOf(code, [line.slice(4)]) : null,
    text: line,
    ...over,
    hostAttempts,
    ...(by && { by }),
  }
}

/** Unpacks the recorded attempt. */
function recordOf({ record }: Finish) {
  return readRecord(record.packed)
}

function finish(result: AttemptResult, over: { attempt?: number; at?: number } & Partial<FinishFacts> = {}) {
  const { attempt = 1, at = ACCEPTED_AT + 1_000 } = over
  const { message = { dueAt: ACCEPTED_AT, signedAt: at - 500, signatures: [] }, destination = null } = over
  const facts = { startedAt: at - 500, finishedAt: at, message, destination }
  return finishOf({ ...delivery, attempt }, result, facts, middle)
}

for (const [destination, provider] of [
  ['google', 'google'],
  ['mx.there.test', 'other'],
  ['smart-host', 'smart_host'],
  ['smart-host-relay', 'smart_host'],
  ['smart-host.there.test', 'other'],
  [null, 'none'],
] as const)
  test(`metrics: an attempt at ${destination} counts for ${provider}`, () => {
    const { measured } = finish(endingOf('bounced', '550 spam', { class: 'spam' }), { destination })
    assert.equal(measured, { provider, class: 'spam', sessionErrors: [] })
  })

test('metrics: sessions that end before mail could be sent are errors, by phase', () => {
  const refused = { ...hostAttempt('mx1.there.test', 'ECONNREFUSED'), phase: 'connect' }
  const untrusted = { ...hostAttempt('mx2.there.test', 'no shared cipher'), phase: 'tls' }
  const hostAttempts = [refused, untrusted, hostAttempt('mx3.there.test', '250 taken')]
  const { measured } = finish(endingOf('delivered', '250 taken', { hostAttempts }), { destination: 'google' })
  assert.equal(measured, { provider: 'google', class: 'none', sessionErrors: ['connect', 'tls'] })
})

test('delivered: the event has host, TLS, reply and duration', () => {
  const done = finish(endingOf('delivered', '250 2.0.0 taken', { phase: 'final-dot' }))
  assert.equal(
    [done.status, done.outcome, done.nextAt, done.error, done.suppress],
    ['delivered', 'delivered', null, null, false],
  )
  assert.equal(done.event, {
    type: 'email.delivered',
    data: {
      delivery: {
        mx_host: 'mx.there.test',
        mx_ip: '192.0.2.1',
        tls: 'TLSv1.3',
        reply: '250 2.0.0 taken',
        duration_ms: 500,
      },
    },
  })
})

test('the record names delivery and attempt, and contains all host attempts', () => {
  const hostAttempts = [hostAttempt('mx1.there.test', '421 busy'), hostAttempt('mx2.there.test', '250 taken')]
  const done = finish(endingOf('delivered', '250 taken', { hostAttempts }), { attempt: 3 })
  const { emailId, ordinal, accountId, address, domain, attempt, startedAt, finishedAt } = done
  assert.equal(
    { emailId, ordinal, accountId, address, domain, attempt },
    {
      emailId: delivery.emailId,
      ordinal: 2,
      accountId: delivery.accountId,
      address: 'a@there.test',
      domain: 'there.test',
      attempt: 3,
    },
  )
  assert.equal([startedAt, finishedAt], [ACCEPTED_AT + 500, ACCEPTED_AT + 1_000])
  assert.equal(
    { ...recordOf(done), transcript: 0 },
    {
      phase: 'rcpt',
      reply: '250 taken',
      mxHost: 'mx2.there.test',
      mxIp: '192.0.2.1',
      tls: 'TLSv1.3',
      transcript: 0,
    },
  )
  assert.equal(JSON.parse(recordOf(done).transcript!), hostAttempts)
})

test('deferred: the retry schedule sets the next attempt, and the event has the reply', () => {
  const done = finish(endingOf('deferred', '451 4.3.0 later'), { attempt: 2 })
  assert.equal(
    [done.status, done.outcome, done.error, done.suppress],
    ['delivery_delayed', 'deferred', null, false],
  )
  assert.is(done.nextAt, ACCEPTED_AT + 1_000 + 5 * 60_000)
  assert.equal(done.event, {
    type: 'email.delivery_delayed',
    data: {
      delay: {
        attempt: 2,
        next_attempt_at: new Date(done.nextAt!).toISOString(),
        reply: '451 4.3.0 later',
      },
    },
  })
})

test('deferred with an explicit delay: that delay is used', () => {
  const done = finish(endingOf('deferred', '451 later', { retryAfterMs: 2_000 }), { attempt: 9 })
  assert.is(done.nextAt, ACCEPTED_AT + 3_000)
})

test('deferred shortly before expiry: one last attempt at the expiry', () => {
  const done = finish(endingOf('deferred', '451 4.3.0 later'), {
    attempt: 17,
    at: delivery.expiresAt - 60_000,
  })
  assert.equal([done.status, done.nextAt], ['delivery_delayed', delivery.expiresAt])
})

test('deferred past expiry: the email fails as expired', () => {
  const at = delivery.expiresAt + 500
  const done = finish(endingOf('deferred', '451 4.3.0 later'), { attempt: 17, at })
  assert.equal([done.status, done.nextAt, done.suppress], ['failed', null, false])
  assert.is(done.error, 'expired after 48 h: 451 4.3.0 later')
  assert.equal(done.event, {
    type: 'email.failed',
    data: { failed: { reason: 'expired after 48 h: 451 4.3.0 later' } },
  })
  assert.is(done.handedOverAt, at - 500)
})

test("the last attempt of an expired delivery is recorded as deferred, with the host's reply", () => {
  const at = delivery.expiresAt + 500
  const done = finish(endingOf('deferred', '451 4.3.0 later'), { attempt: 17, at })
  assert.is(done.outcome, 'deferred')
  assert.is(done.record.reply, '451 4.3.0 later')
})

test('the expiry message states the hours that the email was given', () => {
  const short = { ...delivery, expiresAt: ACCEPTED_AT + 4 * HOUR_MS }
  const facts = { startedAt: short.expiresAt, finishedAt: short.expiresAt, message: null, destination: null }
  const done = finishOf(short, endingOf('deferred', 'no answer', { hostAttempts: [] }), facts, middle)
  assert.is(done.error, 'expired after 4 h: no answer')
})

test('the hours of a scheduled email count from its scheduled time', () => {
  const dueAt = ACCEPTED_AT + 1_000 * HOUR_MS
  const later = { ...delivery, expiresAt: dueAt + 48 * HOUR_MS }
  const message = { dueAt, signedAt: later.expiresAt, signatures: null }
  const facts = { startedAt: later.expiresAt, finishedAt: later.expiresAt, message, destination: null }
  const done = finishOf(later, endingOf('deferred', 'no answer', { hostAttempts: [] }), facts, middle)
  assert.is(done.error, 'expired after 48 h: no answer')
})

test('bounced: the error has the reply and the host', () => {
  const done = finish(endingOf('bounced', '550 5.1.1 no such user', { class: 'invalid-recipient' }))
  assert.equal([done.status, done.outcome, done.nextAt], ['bounced', 'bounced', null])
  assert.is(done.error, '550 5.1.1 no such user (mx.there.test)')
  assert.equal(done.event, {
    type: 'email.bounced',
    data: {
      bounce: {
        type: 'Permanent',
        subtype: 'NoEmail',
        class: 'invalid-recipient',
        code: 550,
        enhanced_code: '5.1.1',
        message: '550 5.1.1 no such user',
        mx_host: 'mx.there.test',
      },
    },
  })
})

test('bounced with a status of class 4: the bounce is transient', () => {
  const done = finish(endingOf('bounced', '550 4.1.1 user unknown', { class: 'invalid-recipient' }))
  assert.is((done.event.data.bounce as Record<string, unknown>).type, 'Transient')
})

test('bounced without a host: our status code replaces the reply', () => {
  const result = endingOf('bounced', 'there.test takes no mail (null MX)', {
    class: 'bad-domain',
    enhanced: '5.1.10',
    phase: 'dns',
    hostAttempts: [],
  })
  const done = finish(result)
  assert.is(done.error, '5.1.10 there.test takes no mail (null MX)')
  const { code, enhanced_code, mx_host } = done.event.data.bounce as Record<string, unknown>
  assert.equal([code, enhanced_code, mx_host], [null, '5.1.10', null])
  const { mxHost, mxIp, tls, transcript } = recordOf(done)
  assert.equal([mxHost, mxIp, tls, transcript], [null, null, null, null])
})

test('a bounce suppresses the address only if the reply blames it, whatever the class', () => {
  const classes: BounceClass[] = ['invalid-recipient', 'inactive-mailbox', 'bad-domain', 'spam', 'unknown']
  for (const bounceClass of classes) {
    const result = endingOf('bounced', '550 no', { class: bounceClass })
    assert.is(finish(result).suppress, false, bounceClass)
    assert.is(finish({ ...result, blamesAddress: true }).suppress, true, bounceClass)
  }
})

test('a delay that the host asks for, and greylisting, set the next attempt', () => {
  const wished = finish(endingOf('deferred', '451 later', { hintMs: 600_000 }), { attempt: 1 })
  assert.is(wished.nextAt, ACCEPTED_AT + 1_000 + 630_000)
  const greylisted = endingOf('deferred', '451 later', { class: 'greylisted' })
  const waits = [1, 2, 3, 12].map(attempt => finish(greylisted, { attempt }).nextAt! - ACCEPTED_AT - 1_000)
  assert.equal(waits, [60_000, 300_000, 300_000, 300_000])
})

test('suppressed and failed results', () => {
  const suppressed = finish(endingOf('suppressed', '550 5.1.1 no', { hostAttempts: [] }))
  assert.equal([suppressed.status, suppressed.event.type], ['suppressed', 'email.suppressed'])
  assert.is(suppressed.error, 'The address is on the suppression list.')
  const failed = finish(endingOf('failed', 'the email is gone', { hostAttempts: [] }), { message: null })
  assert.equal(
    [failed.status, failed.event.type, failed.error],
    ['failed', 'email.failed', 'the email is gone'],
  )
  assert.equal(failed.event.data, { failed: { reason: 'the email is gone' } })
})

test('transmitted messages record signature and time; others do not', () => {
  const at = ACCEPTED_AT + 1_000
  const handed = finish(endingOf('deferred', '451 later'))
  assert.equal([handed.handedOverAt, handed.signedAt, handed.signatures], [at - 500, at - 500, '[]'])
  const remaining = finish(endingOf('failed', 'gone', { hostAttempts: [] }), { message: null })
  assert.equal([remaining.handedOverAt, remaining.signedAt, remaining.signatures], [null, null, null])
})

test('signatures are kept for a retry, and a fingerprint of them at the end', () => {
  const signatures = [
    { keyId: wireId('key', newId(5)), bytes: Buffer.from('one').toString('base64') },
    { keyId: wireId('key', newId(6)), bytes: Buffer.from('other').toString('base64') },
  ]
  const message = { dueAt: ACCEPTED_AT, signedAt: ACCEPTED_AT, signatures }
  const deferred = finish(endingOf('deferred', '451 later'), { message })
  assert.equal([deferred.signatures, deferred.proof], [JSON.stringify(signatures), null])
  for (const kind of ['delivered', 'bounced', 'failed'] as const) {
    const done = finish(endingOf(kind, '250 taken'), { message })
    assert.is(done.signatures, null)
    const entries = entriesOf(done.proof!)
    assert.equal(
      entries.map(entry => ['one', 'other'].map(text => entry.isOf(Buffer.from(text).toString('base64')))),
      [
        [true, false],
        [false, true],
      ],
    )
    assert.is(entries.length, 2)
  }
})

const counted = { destination: 'a destination', class: 'rate-limited', replyForm: '421 4.7.0 slow down #' }
for (const [kind, expected] of [
  ['delivered', { destination: 'a destination', result: 'delivered', class: null, replyForm: null }],
  ['deferred', { ...counted, result: 'deferred' }],
  ['bounced', { ...counted, result: 'bounced' }],
  ['failed', { ...counted, result: 'expired' }],
  ['suppressed', undefined],
] as [AttemptResult['kind'], Finish['counted']][])
  test(`an attempt that ends ${kind} counts as ${expected?.result ?? 'nothing'}`, () => {
    const result = endingOf(kind, '421 4.7.0 slow down 17', { class: 'rate-limited' })
    assert.equal(finish(result, { destination: 'a destination' }).counted, expected)
    assert.is(finish(result).counted, undefined)
  })

test.run()
