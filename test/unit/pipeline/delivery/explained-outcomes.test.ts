import * as assert from 'uvu/assert'
import type { AttemptResult } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import { resultOf, resultOfFailure } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import { finishOf } from '../../../../src/pipeline/delivery/outcome/finish.ts'
import type { RecipientResult, SmtpFailure } from '../../../../src/pipeline/delivery/smtp-client/types.ts'
import { parseReplyLine, replyOf } from '../../../../src/protocols/smtp/reply.ts'
import type { Cause } from '../../../../src/resources/emails/explanation/cause.ts'
import type { ExplanationCode } from '../../../../src/resources/emails/explanation/codes.ts'
import { explainCause } from '../../../../src/resources/emails/explanation/explain.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('delivery: outcomes explained')
const AT = 1_795_000_000_000
const HOST = 'mx.corp.example'
const delivery = { address: 'ben@corp.example', domain: 'corp.example', simulated: 0 as const }
const claimed: ClaimedDelivery = {
  ...delivery,
  class: DELIVERY_CLASS.transactional,
  accountId: Buffer.alloc(16),
  emailId: Buffer.alloc(16),
  ordinal: 0,
  attempt: 1,
  expiresAt: AT + 48 * 3_600_000,
}

/** The explanation that is stored with the event of the attempt. */
function explained(result: AttemptResult, expiresAt = claimed.expiresAt) {
  const host = { host: HOST, ip: '192.0.2.9', ...{ phase: null, reply: '', tls: null, tlsFallback: null } }
  const by = { ...host, policy: 'none' as const, phases: [] }
  const facts = { startedAt: AT, finishedAt: AT, message: null, destination: null }
  const finish = finishOf({ ...claimed, expiresAt }, { ...result, by, hostAttempts: [by] }, facts, () => 0.5)
  return explainCause(JSON.parse(finish.cause!) as Cause, delivery, finish.nextAt)
}

function refused(phase: 'mail' | 'rcpt' | 'data' | 'final-dot', line: string): AttemptResult {
  const { code, text } = parseReplyLine(line)!
  const answerText: RecipientResult = { kind: 'refused', phase, reply: replyOf(code, [text]), local: false }
  return resultOf(answerText, HOST, () => ({ recipient: 'ben@corp.example', ours: ['news@shop.example'] }))
}

/** Phase, reply, and the code that explains it. */
const REPLIES: readonly (readonly [Parameters<typeof refused>[0], string, ExplanationCode])[] = [
  ['rcpt', '550 5.1.1 <ben@corp.example>: Recipient address rejected: User unknown', 'no_such_user'],
  ['rcpt', '550 5.1.1 The email account that you tried to reach does not exist', 'no_such_user'],
  ['rcpt', '550 No such user here', 'no_such_user'],
  ['rcpt', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found', 'no_such_user'],
  ['rcpt', '550 unknown recipient ben@corp.example', 'no_such_user'],
  ['rcpt', '550 Invalid recipient', 'no_such_user'],
  ['rcpt', '550 mailbox ben not found', 'no_such_user'],
  ['rcpt', '551 5.1.1 user does not exist', 'no_such_user'],
  ['rcpt', '550 5.1.1 Adresse inconnue', 'no_such_user'],
  ['rcpt', '550 5.1.1 Empfaenger unbekannt', 'no_such_user'],
  ['rcpt', '550 5.1.1 El usuario no existe', 'no_such_user'],
  ['rcpt', '550 5.2.1 The account is disabled', 'mailbox_inactive'],
  ['rcpt', '550 5.2.1 mailbox disabled, not accepting messages', 'mailbox_inactive'],
  ['rcpt', '554 5.2.1 This account has been suspended', 'mailbox_inactive'],
  ['rcpt', '550 This mailbox is inactive', 'mailbox_inactive'],
  ['rcpt', '552 5.2.2 Mailbox full', 'mailbox_full'],
  ['rcpt', '452 4.2.2 The recipient is over quota', 'mailbox_full'],
  ['rcpt', '552 5.2.2 quota exceeded', 'mailbox_full'],
  ['rcpt', '422 4.2.2 mailbox is full', 'mailbox_full'],
  ['final-dot', '452 4.2.2 Over quota', 'mailbox_full'],
  ['rcpt', '550 5.2.2 Boite pleine', 'mailbox_full'],
  ['rcpt', '454 4.7.1 Relay access denied', 'relay_denied'],
  ['rcpt', '554 5.7.1 <ben@corp.example>: Relay access denied', 'relay_denied'],
  ['rcpt', '550 5.7.1 Unable to relay for ben@corp.example', 'relay_denied'],
  ['rcpt', '550 relay not permitted', 'relay_denied'],
  ['rcpt', '550 5.7.1 Relaying denied', 'relay_denied'],
  ['rcpt', '554 5.4.1 <ben@corp.example>: Relay access denied', 'relay_denied'],
  ['rcpt', '550 5.7.1 relaying denied', 'relay_denied'],
  ['rcpt', '550 5.7.1 Relaying denied. Proper authentication required.', 'relay_denied'],
  ['rcpt', '550 5.7.1 Relaying to <ben@corp.example> denied', 'relay_denied'],
  ['rcpt', "553 5.4.1 We don't relay mail for corp.example", 'relay_denied'],
  ['rcpt', '550 5.7.1 Not authorized to relay', 'relay_denied'],
  ['rcpt', '550 5.1.2 We are not a relay for this domain', 'relay_denied'],
  ['rcpt', '550 5.1.2 Relay access denied: domain unknown here', 'relay_denied'],
  ['rcpt', "553 sorry, that domain isn't in my list of allowed rcpthosts", 'relay_denied'],
  ['final-dot', '550 5.7.0 Message rejected by corporate policy', 'policy'],
  ['rcpt', '550 5.7.1 Message rejected due to company policy', 'policy'],
  ['rcpt', '554 5.7.1 Delivery not authorized, message refused', 'policy'],
  ['rcpt', '550 5.7.1 Access denied by administrator', 'policy'],
  ['rcpt', '550 5.7.1 The recipient only accepts mail from known senders', 'policy'],
  ['rcpt', '451 4.7.1 Greylisting in action, please come back later', 'greylisted'],
  ['rcpt', '450 4.2.0 <ben@corp.example>: Recipient address rejected: Greylisted', 'greylisted'],
  ['rcpt', '451 4.7.1 Please try again later, greylisted for 300 seconds', 'greylisted'],
  ['rcpt', '450 graylisted, see http://postgrey.example/help', 'greylisted'],
  ['data', '451 4.7.1 Graylisting: try again in 5 minutes', 'greylisted'],
  ['rcpt', '451 You are greylisted', 'greylisted'],
  ['mail', '421 4.7.0 Too many connections from your IP', 'throttled'],
  ['rcpt', '450 4.7.1 Rate limit exceeded', 'throttled'],
  ['rcpt', '451 4.7.1 You are sending too fast, slow down', 'throttled'],
  ['rcpt', '451 Too many messages, throttled', 'throttled'],
  ['rcpt', '421 too many messages in this hour', 'throttled'],
  [
    'rcpt',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    'blocked',
  ],
  ['mail', '550 5.7.1 Your IP is listed at bl.spamcop.net', 'blocked'],
  ['rcpt', '554 5.7.1 blocked using b.barracudacentral.org', 'blocked'],
  ['rcpt', '550 Your IP address has a poor reputation', 'blocked'],
  ['rcpt', '554 5.7.1 192.0.2.1 is on our blacklist', 'blocked'],
  ['mail', '554 refused: sending host is blacklisted', 'blocked'],
  ['rcpt', '550 5.7.1 Sender IP is on a DNSBL', 'blocked'],
  ['rcpt', '450 4.7.1 Client host rejected: cannot find your reverse hostname', 'no_reverse_dns'],
  ['mail', '550 5.7.1 No reverse DNS for your address', 'no_reverse_dns'],
  ['rcpt', '554 5.7.1 PTR record missing', 'no_reverse_dns'],
  [
    'final-dot',
    '550 5.7.26 This mail is unauthenticated: SPF and DKIM did not pass',
    'authentication_failed',
  ],
  ['final-dot', '550 5.7.1 Rejected: DMARC policy of shop.example is reject', 'authentication_failed'],
  ['mail', '550 5.7.23 SPF validation failed', 'authentication_failed'],
  ['final-dot', '550 5.7.20 No passing DKIM signature found', 'authentication_failed'],
  ['final-dot', '554 5.7.5 DMARC check failed', 'authentication_failed'],
  ['rcpt', '550 5.7.1 SPF fail: 192.0.2.1 is not allowed for shop.example', 'authentication_failed'],
  ['mail', '552 5.3.4 Message size exceeds fixed limit', 'too_large'],
  ['final-dot', '552 5.3.4 message too large', 'too_large'],
  ['rcpt', '552 5.2.3 Message exceeds the maximum size of this mailbox', 'too_large'],
  ['data', '552 Message is too big', 'too_large'],
  ['final-dot', '554 5.7.1 Message looks like spam', 'spam'],
  ['final-dot', '550 5.7.1 This message was classified as SPAM', 'spam'],
  ['final-dot', '554 spam message rejected', 'spam'],
  ['final-dot', '550 High probability of spam', 'spam'],
  ['final-dot', '554 5.6.0 Message contains a virus', 'content_rejected'],
  ['final-dot', '550 5.6.0 phishing detected', 'content_rejected'],
  ['final-dot', '550 5.7.1 Message content rejected', 'content_rejected'],
  ['final-dot', '554 Transaction failed', 'content_rejected'],
  ['final-dot', '552 5.7.0 Attachment type .exe is not allowed', 'attachment_rejected'],
  ['final-dot', '550 5.7.1 attachment blocked', 'attachment_rejected'],
  ['mail', '550 5.1.8 Sender address rejected: Domain not found', 'sender_rejected'],
  ['mail', '553 5.1.7 invalid sender address', 'sender_rejected'],
  ['mail', '450 4.1.8 <news@shop.example>: Sender address rejected: Domain not found', 'sender_rejected'],
  ['rcpt', '452 4.5.3 Too many recipients', 'too_many_recipients'],
  ['mail', '550 5.7.1 You must use TLS to send to this server', 'tls_required'],
  ['rcpt', '550 5.1.2 Host unknown, bad destination system', 'domain_rejected'],
  ['rcpt', '500 5.5.1 Command unrecognized', 'protocol_error'],
  ['mail', '502 5.5.2 command not implemented', 'protocol_error'],
  ['rcpt', '451 4.3.0 Temporary lookup failure', 'deferred'],
  ['rcpt', '450 4.2.0 busy, come back another time', 'deferred'],
  ['rcpt', '451 4.3.5 Server configuration problem', 'deferred'],
  ['final-dot', '451 4.3.0 local error in processing', 'deferred'],
  ['rcpt', '451 4.7.1 Message rate limit exceeded for your server', 'throttled'],
  ['rcpt', '550 5.1.1 recipient unknown here', 'no_such_user'],
  ['rcpt', '550 5.1.1 ben is not a known user', 'no_such_user'],
  ['rcpt', '550 5.1.1 Utilisateur inconnu', 'no_such_user'],
  ['rcpt', '452 4.2.2 user has too much mail in the mailbox, over quota', 'mailbox_full'],
  ['final-dot', '554 5.7.1 rejected as spam by our filter', 'spam'],
  ['rcpt', '451 4.7.1 greylisting active for this sender, wait 120 s', 'greylisted'],
  ['mail', '552 5.3.4 size limit exceeded', 'too_large'],
  ['mail', '550 5.7.1 reverse DNS lookup failed', 'no_reverse_dns'],
  ['rcpt', '554 5.7.1 listed in dnsbl.sorbs.net', 'blocked'],
  ['rcpt', '553 5.1.1 no mailbox by that name', 'no_such_user'],
  ['rcpt', '553 5.1.1 there is no mailbox of this name here', 'no_such_user'],
  ['rcpt', '550 5.1.1 nobody of that name has a mailbox here', 'no_such_user'],
  ['rcpt', '553 5.1.1 no account under that name', 'no_such_user'],
  ['final-dot', '553 5.1.1 no mailbox by that name', 'no_such_user'],
  ['rcpt', '550 we have no mailbox with that name', 'no_such_user'],
  ['rcpt', '452 4.7.1 Message rate exceeded', 'throttled'],
  ['rcpt', '451 4.7.1 The rate of your mail is too high', 'throttled'],
  ['mail', '450 4.7.1 You exceed 30 messages per minute', 'throttled'],
  ['mail', '421 4.7.0 Above the hourly quota of this sender', 'throttled'],
  ['final-dot', '452 4.3.2 Mail volume exceeded, come back in an hour', 'throttled'],
  ['rcpt', '450 4.7.1 too many deliveries this hour', 'throttled'],
  ['final-dot', '421 4.7.28 Our system has seen an unusual rate of unsolicited mail', 'throttled'],
  ['final-dot', '421 4.7.28 This looks like a flood of mail', 'throttled'],
  ['mail', '421 4.7.28 not so fast please', 'throttled'],
  ['rcpt', '450 4.7.28 mail of 192.0.2.1 is put off for its volume', 'throttled'],
  ['mail', '421 4.7.28 192.0.2.1 is blocked for now', 'blocked'],
  ['mail', '421 4.7.28 Your host has a bad reputation', 'blocked'],
  ['mail', '530 STARTTLS first', 'tls_required'],
  ['mail', '530 5.7.0 Must issue a STARTTLS command first', 'tls_required'],
  ['mail', '530 5.7.0 This host takes mail over TLS only', 'tls_required'],
  ['rcpt', '554 5.7.1 Please use STARTTLS', 'tls_required'],
  ['mail', '523 5.7.10 Encryption needed', 'tls_required'],
  ['rcpt', '550 5.7.1 We refuse mail without TLS', 'tls_required'],
  ['mail', '451 5.7.3 STARTTLS is required to send mail', 'tls_required'],
  ['mail', '550 5.7.25 Your address has no name', 'no_reverse_dns'],
  ['final-dot', '554 5.4.14 Hop count exceeded', 'mail_loop'],
  ['mail', '530 5.7.0 Authentication required', 'policy'],
  ['rcpt', '550 5.7.1 Message rejected by corporate rules, generated at noon', 'policy'],
  ['rcpt', '552 5.2.2 The box is over its storage quota', 'mailbox_full'],
  ['rcpt', '550 no', 'rejected'],
  ['rcpt', '599 5.9.9 %#?', 'rejected'],
]

/** Kind and phase of a failure, error code, and the code that explains it. */
const FAILURES: readonly (readonly [
  SmtpFailure['kind'],
  SmtpFailure['phase'],
  string | undefined,
  ExplanationCode,
])[] = [
  ['network', 'connect', 'ECONNREFUSED', 'connection_refused'],
  ['network', 'connect', 'EHOSTUNREACH', 'connection_failed'],
  ['network', 'connect', 'ENETUNREACH', 'connection_failed'],
  ['network', 'connect', 'ECONNRESET', 'connection_failed'],
  ['network', 'connect', 'ETIMEDOUT', 'timed_out'],
  ['network', 'connect', 'EMFILE', 'internal_error'],
  ['network', 'connect', 'ENOBUFS', 'internal_error'],
  ...(['connect', 'banner', 'ehlo', 'starttls', 'tls', 'auth', 'mail', 'rcpt', 'data', 'body'] as const).map(
    phase => ['timeout', phase, undefined, 'timed_out'] as const,
  ),
  ...(['banner', 'ehlo', 'starttls', 'mail', 'rcpt', 'data', 'body'] as const).flatMap(
    phase =>
      [
        ['closed', phase, undefined, 'connection_lost'],
        ['network', phase, 'ECONNRESET', 'connection_lost'],
      ] as const,
  ),
  ...(['timeout', 'closed', 'network', 'protocol'] as const).map(
    kind => [kind, 'final-dot', undefined, 'unconfirmed'] as const,
  ),
  ['tls', 'starttls', undefined, 'tls_failed'],
  ['tls', 'tls', undefined, 'tls_failed'],
  ...(['banner', 'ehlo', 'mail', 'rcpt'] as const).map(
    phase => ['protocol', phase, undefined, 'protocol_error'] as const,
  ),
]

test(`${REPLIES.length} replies have the right code`, () => {
  const wrong = REPLIES.flatMap(([phase, line, code]) => {
    const found = explained(refused(phase, line)).code
    return found === code ? [] : [`${phase} ${line}: ${found}, not ${code}`]
  })
  assert.equal(wrong, [])
})

test(`${FAILURES.length} failures have the right code`, () => {
  const wrong = FAILURES.flatMap(([kind, phase, errno, code]) => {
    const failure = { kind, phase, message: kind, reply: null, ...(errno !== undefined && { code: errno }) }
    const found = explained(resultOfFailure(failure, HOST)).code
    return found === code ? [] : [`${kind} ${phase} ${errno}: ${found}, not ${code}`]
  })
  assert.equal(wrong, [])
})

test('a summary names the host, the phase, the blocklist and the time of the next attempt', () => {
  const timeout = { kind: 'timeout', phase: 'ehlo', message: 'slow', reply: null } as const
  const late = explained(resultOfFailure(timeout, HOST))
  assert.is(late.summary, 'mx.corp.example did not answer in time after EHLO.')
  assert.ok(Date.parse(late.next_attempt_at!) > AT)
  const listed = refused('rcpt', '554 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org')
  assert.match(explained(listed).summary, 'which is listed by Spamhaus')
})

test('a bounce that suppresses the address says so, any other does not', () => {
  const gone = explained(refused('rcpt', '550 5.1.1 no such user'))
  const added = 'The address was added to the suppression list, so it is sent no further email.'
  assert.is(gone.action, `Check the address for typos. ${added}`)
  assert.is(explained(refused('rcpt', '550 5.2.1 The account is disabled')).action, added)
  const spam = explained(refused('final-dot', '554 5.7.1 Message looks like spam'))
  assert.is(spam.action, 'Change the content, or check its links.')
})

test('an expired delivery keeps its last reason', () => {
  const failure = {
    kind: 'network',
    phase: 'connect',
    message: 'x',
    reply: null,
    code: 'ECONNREFUSED',
  } as const
  const over = explained(resultOfFailure(failure, HOST), AT - 1)
  assert.is(over.code, 'expired')
  assert.match(over.summary, 'Last reason: mx.corp.example refused the connection.')
  assert.is(over.next_attempt_at, null)
})

test.run()
