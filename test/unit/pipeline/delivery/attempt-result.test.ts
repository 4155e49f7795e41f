import * as assert from 'uvu/assert'
import {
  type AttemptResult,
  resultOf,
  resultOfFailure,
  resultOfHosts,
} from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import {
  resultOfInbox,
  resultWithoutHost,
} from '../../../../src/pipeline/delivery/outcome/result-without-host.ts'
import type {
  Phase,
  RecipientResult,
  SmtpFailure,
} from '../../../../src/pipeline/delivery/smtp-client/types.ts'
import { replyOf } from '../../../../src/protocols/smtp/reply.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('attempt result')
const HOST = 'mx.there.test'

const replyFrom = (line: string) => replyOf(Number(line.slice(0, 3)), [line.slice(4)])

/** `bounced invalid-recipient`, with `, host in trouble` where another one is to be tried. */
function short({ kind, class: why, hostUnavailable }: AttemptResult): string {
  const verdict = kind === 'delivered' ? 'delivered' : `${kind} ${why}`
  return hostUnavailable ? `${verdict}, host in trouble` : verdict
}

const refused = (phase: 'mail' | 'rcpt' | 'data' | 'body' | 'final-dot', line: string, local = false) =>
  resultOf({ kind: 'refused', phase, reply: replyFrom(line), local }, HOST)

const failure = (phase: Phase, kind: SmtpFailure['kind'], line?: string): SmtpFailure => ({
  phase,
  kind,
  reply: line === undefined ? null : replyFrom(line),
  message: line ?? `${kind} in ${phase}`,
})

test("a lack of local resources is not the host's fault", () => {
  const short = { ...failure('connect', 'network'), code: 'EMFILE' }
  assert.is(resultOfFailure(short, HOST).isLocalCause, true)
  const refusedThere = { ...failure('connect', 'network'), code: 'ECONNREFUSED' }
  assert.is(resultOfFailure(refusedThere, HOST).isLocalCause, undefined)
})

test('an accepted message is delivered, with the reply to the final dot', () => {
  const accepted: RecipientResult = {
    kind: 'accepted',
    phase: 'final-dot',
    reply: replyFrom('250 2.0.0 taken'),
  }
  assert.equal(resultOf(accepted, HOST), {
    kind: 'delivered',
    class: 'unknown',
    phase: 'final-dot',
    reply: { code: 250, enhanced: '2.0.0', text: 'taken' },
    text: '250 2.0.0 taken',
    hostAttempts: [],
  })
})

for (const [phase, line, expected] of [
  ['rcpt', '550 5.1.1 no such user', 'bounced invalid-recipient'],
  ['rcpt', '451 4.3.0 later', 'deferred unknown'],
  ['rcpt', '450 4.2.0 Greylisted', 'deferred greylisted'],
  ['rcpt', '452 4.2.2 over quota', 'deferred mailbox-full'],
  ['rcpt', '450 4.7.0 too many connections', 'deferred rate-limited, host in trouble'],
  ['mail', '550 5.7.1 sender rejected', 'bounced sender'],
  ['rcpt', '450 4.2.1 the user gets mail too quickly', 'deferred rate-limited'],
  ['mail', '451 4.3.2 not now', 'deferred unknown, host in trouble'],
  ['mail', '451 4.7.1 Greylisted', 'deferred greylisted'],
  ['mail', '451 4.1.8 domain of sender does not resolve', 'deferred sender'],
  ['data', '554 5.5.1 no', 'bounced content'],
  ['data', '451 4.3.0 later', 'deferred unknown'],
  ['body', '552 5.3.4 too large', 'bounced message-too-large'],
  ['final-dot', '550 5.7.1 looks like spam', 'bounced spam'],
  ['final-dot', '554 no', 'bounced content'],
  ['final-dot', '451 4.7.1 later', 'deferred unknown'],
] as const)
  test(`${line} to ${phase}: ${expected}`, () => {
    const outcome = refused(phase, line)
    assert.is(short(outcome), expected)
    assert.is(outcome.phase, phase)
    assert.is(outcome.text, line)
    assert.is(outcome.reply?.code, Number(line.slice(0, 3)))
  })

test("a message ruled out by the host's announcements is refused without blaming the host", () => {
  assert.is(
    short(refused('mail', '552 5.3.4 message is larger than announced', true)),
    'bounced message-too-large',
  )
  assert.is(
    short(refused('mail', '553 5.6.7 does not take internationalized addresses', true)),
    'bounced unknown',
  )
})

for (const [phase, kind, line, expected] of [
  ['connect', 'network', undefined, 'deferred unknown, host in trouble'],
  ['connect', 'timeout', undefined, 'deferred unknown, host in trouble'],
  ['banner', 'reply', '554 5.7.1 blocked using our list', 'deferred blocked, host in trouble'],
  ['banner', 'reply', '554 go away', 'bounced policy, host in trouble'],
  ['banner', 'reply', '521 no mail here', 'bounced no-route, host in trouble'],
  ['ehlo', 'reply', '421 4.3.2 too many connections', 'deferred rate-limited, host in trouble'],
  ['ehlo', 'protocol', undefined, 'deferred unknown, host in trouble'],
  ['starttls', 'tls', undefined, 'deferred unknown, host in trouble'],
  ['mail', 'closed', undefined, 'deferred unknown, host in trouble'],
  ['rcpt', 'reply', '421 4.7.0 enough', 'deferred unknown, host in trouble'],
  ['rcpt', 'reply', '421 4.7.1 Greylisted', 'deferred greylisted'],
  ['rcpt', 'closed', '550 5.1.1 no such user', 'deferred unknown, host in trouble'],
  ['data', 'timeout', undefined, 'deferred unknown, host in trouble'],
  ['body', 'closed', undefined, 'deferred unknown, host in trouble'],
  ['final-dot', 'closed', undefined, 'deferred unknown'],
  ['final-dot', 'timeout', undefined, 'deferred unknown'],
  ['final-dot', 'reply', '421 4.3.0 shutting down', 'deferred unknown'],
  ['final-dot', 'reply', '421 4.7.0 rate limited', 'deferred rate-limited'],
] as const)
  test(`a session that ends in ${phase} (${kind}${line ? `: ${line}` : ''}): ${expected}`, () => {
    const outcome = resultOfFailure(failure(phase, kind, line), HOST)
    assert.is(short(outcome), expected)
    assert.is(outcome.text, line ?? `${kind} in ${phase}`)
    assert.equal(resultOf({ kind: 'failed', phase, failure: failure(phase, kind, line) }, HOST), outcome)
  })

const deferred = resultWithoutHost('deferred', 'unknown', 'not known', { code: 'dns_failed' })
const bounced = resultWithoutHost('bounced', 'no-route', 'no address', { code: 'no_mail_host' })
const connectFailed = resultOfFailure(failure('connect', 'network'), HOST)
const sentAway = resultOfFailure(failure('banner', 'reply', '554 go away'), HOST)

test('replies of a large provider are classified by its rules', () => {
  const reply = replyFrom('550 5.5.0 mailbox unavailable')
  const resultAt = (host: string) =>
    resultOf({ kind: 'refused', phase: 'final-dot', reply, local: false }, host)
  assert.is(resultAt('there.olc.protection.outlook.com').blamesAddress, true)
  assert.is(resultAt(HOST).blamesAddress, undefined)
})

test('several hosts: permanent only when every one refused permanently', () => {
  assert.is(resultOfHosts([sentAway, sentAway]).kind, 'bounced')
  assert.is(resultOfHosts([sentAway, connectFailed]).kind, 'deferred')
  assert.is(resultOfHosts([connectFailed, sentAway]).kind, 'deferred')
  assert.is(resultOfHosts([bounced]).kind, 'bounced')
  assert.is(resultOfHosts([bounced, deferred, sentAway]).kind, 'deferred')
})

test("several hosts: the last reply of the verdict's kind is used", () => {
  const first = resultOfFailure(failure('connect', 'timeout'), HOST)
  assert.is(resultOfHosts([first, connectFailed, sentAway]), connectFailed)
  assert.is(resultOfHosts([bounced, sentAway]), sentAway)
})

test('a result without a host does not make a host unavailable', () => {
  assert.equal(deferred, {
    kind: 'deferred',
    class: 'unknown',
    phase: 'dns',
    reply: null,
    text: 'not known',
    cause: { code: 'dns_failed' },
    hostAttempts: [],
  })
})

test('the reply of a local inbox is a delivery, or a bounce for a loop', () => {
  const accepted = resultOfInbox(replyFrom('250 2.0.0 handed over'))
  assert.equal(
    [accepted.kind, accepted.phase, accepted.text, accepted.cause],
    ['delivered', 'final-dot', '250 2.0.0 handed over', undefined],
  )
  const looping = resultOfInbox(replyFrom('554 5.4.6 too many servers'))
  assert.equal([looping.kind, looping.class, looping.cause], ['bounced', 'no-route', { code: 'mail_loop' }])
})

test.run()
