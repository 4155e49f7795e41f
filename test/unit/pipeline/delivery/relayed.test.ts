import * as assert from 'uvu/assert'
import {
  type AttemptResult,
  relayed,
  resultOf,
  resultOfFailure,
} from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import { resultWithoutHost } from '../../../../src/pipeline/delivery/outcome/result-without-host.ts'
import type { Phase, SmtpFailure } from '../../../../src/pipeline/delivery/smtp-client/types.ts'
import { replyOf } from '../../../../src/protocols/smtp/reply.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('smart host outcome')
const HOST = 'relay.test'

const replyFrom = (line: string) => replyOf(Number(line.slice(0, 3)), [line.slice(4)])

function sentAway(phase: Phase, line: string): AttemptResult {
  const failure: SmtpFailure = { phase, kind: 'reply', reply: replyFrom(line), message: line }
  return resultOfFailure(failure, HOST)
}

function refused(phase: 'mail' | 'rcpt' | 'final-dot', line: string): AttemptResult {
  return resultOf({ kind: 'refused', phase, reply: replyFrom(line), local: false }, HOST)
}

function short({ kind, hostUnavailable, alert }: AttemptResult): string {
  return [kind, hostUnavailable && 'trouble', alert].filter(Boolean).join(', ')
}

for (const [name, outcome, expected] of [
  ['554 as a greeting', sentAway('banner', '554 5.3.2 not for you'), 'deferred, trouble'],
  ['421 as a greeting', sentAway('banner', '421 4.3.2 closing'), 'deferred, trouble'],
  [
    'no address',
    resultWithoutHost('bounced', 'no-route', 'relay.test has no address', { code: 'no_mail_host' }),
    'deferred, trouble',
  ],
  ['535 to the login', sentAway('auth', '535 5.7.8 wrong'), 'deferred, trouble, smart-host-login'],
  ['550 to the login', sentAway('auth', '550 5.7.1 locked'), 'deferred, trouble, smart-host-login'],
  ['454 to the login', sentAway('auth', '454 4.7.0 later'), 'deferred, trouble'],
  ['530 to MAIL', refused('mail', '530 5.7.0 who are you'), 'deferred, trouble, smart-host-login'],
  ['530 to RCPT', refused('rcpt', '530 5.7.0 who are you'), 'deferred, trouble, smart-host-login'],
  ['550 to MAIL', refused('mail', '550 5.1.8 no such sender'), 'bounced'],
  ['550 to RCPT', refused('rcpt', '550 5.1.1 no such user'), 'bounced'],
  ['554 to the message', refused('final-dot', '554 5.6.0 no'), 'bounced'],
  ['450 to RCPT', refused('rcpt', '450 4.2.1 later'), 'deferred'],
] as const)
  test(`${name}: ${expected}`, () => {
    const result = relayed(outcome)
    assert.is(short(result), expected)
    assert.equal([result.text, result.phase], [outcome.text, outcome.phase])
  })

test('a smart host that does not meet our TLS policy counts as unavailable', () => {
  const failure: SmtpFailure = { phase: 'tls', kind: 'tls', reply: null, message: 'expired' }
  const result = relayed({ ...resultOfFailure(failure, HOST), isLocalCause: true })
  assert.equal([result.hostUnavailable, result.isLocalCause], [true, undefined])
})

test.run()
