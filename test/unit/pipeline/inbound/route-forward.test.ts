import * as assert from 'uvu/assert'
import type { Verdicts } from '../../../../src/pipeline/inbound/message-verdicts.ts'
import { NOT_JUDGED } from '../../../../src/pipeline/inbound/message-verdicts.ts'
import { readInbound } from '../../../../src/pipeline/inbound/read-inbound.ts'
import { forwardedMail, forwardFault } from '../../../../src/pipeline/inbound/route-forward.ts'
import type { Authentication } from '../../../../src/pipeline/inbound/verdicts/verdict.ts'
import { newId } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/route-forward')
const MAIL_HOST = 'mailhorn.test'
const RECIPIENT = { name: null, address: 'team@here.test', domain: 'here.test' }
const TO = { name: null, address: 'bob@other.test', domain: 'other.test' }

interface Evidence {
  dmarc?: string
  policy?: string
  /** Domains of valid signatures. */
  signers?: string[]
  spf?: string
}

function verdictsOf({ dmarc = 'pass', policy, signers = [], spf = 'fail' }: Evidence): Verdicts {
  const signatures = signers.map(domain => ({ result: 'pass', domain }))
  const detail = {
    ...{ spf: { result: spf }, dkim: { result: 'pass', signatures } },
    dmarc: { result: dmarc, domain: 'there.test', policy },
  } as unknown as Authentication
  return { ...NOT_JUDGED, spam: 'PASS', detail }
}

function mailOf(head: string, verdicts = verdictsOf({}), sender = 'ann@there.test') {
  const bytes = Buffer.from(`${head}\n\nHello\n`.replaceAll('\n', '\r\n'))
  const row = {
    ...{ id: newId(1), createdAt: 0, sender, recipients: '["team@here.test"]' },
    ...{ clientIp: '192.0.2.1', helo: 'out.there.test', tls: null },
  }
  return { bytes, message: { row, mail: readInbound(bytes, MAIL_HOST), verdicts } }
}

/** Returns the header section of the message that is sent, unfolded. */
function headOf(head: string, verdicts?: Verdicts): string {
  const { bytes, message } = mailOf(head, verdicts)
  const made = forwardedMail(message, bytes, { recipient: RECIPIENT, to: TO, mailHost: MAIL_HOST })
  if ('fault' in made) throw new Error(made.fault)
  const text = `${Buffer.from(made.raw!.message)}`
  assert.ok(text.endsWith('\r\n\r\nHello\r\n'))
  return text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[\t ]/g, ' ')
}

const FROM = 'From: Ann <ann@there.test>'

for (const [what, evidence, isKept] of [
  ['the domain of From', { signers: ['there.test'] }, true],
  ['this domain, which has no policy', { dmarc: 'none', signers: ['there.test'] }, true],
  ['the domain above, and SPF does not help', { signers: ['test', 'mail.there.test'] }, true],
  ['a domain below, where SPF may be what passes', { signers: ['mail.there.test'], spf: 'pass' }, false],
  ['another domain', { signers: ['other.test'], spf: 'pass' }, false],
  ['a domain whose name ends alike', { signers: ['not-there.test'] }, false],
  ['nobody', { spf: 'pass' }, false],
  ['the domain, and DMARC is unknown', { dmarc: 'temperror', signers: ['there.test'] }, false],
] as [string, Evidence, boolean][])
  test(`From ${isKept ? 'stays' : 'is replaced'} in mail signed by ${what}`, () => {
    const head = headOf(FROM, verdictsOf(evidence))
    const own = /^From: "?Ann via here\.test"? <team@here\.test>$/m
    assert.is(own.test(head), !isKept)
    assert.is(head.includes('Reply-To: Ann <ann@there.test>'), !isKept)
    assert.is(/^From: Ann <ann@there\.test>$/m.test(head), isKept)
  })

const SIGNED = verdictsOf({ signers: ['there.test'] })

test('From is replaced in mail whose header cannot be sent as it is', () => {
  assert.match(headOf(`${FROM}\nX-Mailhorn-Ref: abc`, SIGNED), /^From: .*team@here\.test>$/m)
  const head = headOf(`${FROM}\nSubject: Grüße`, SIGNED)
  assert.match(head, /^From: .*team@here\.test>$/m)
  assert.match(head, /^Subject: =\?utf-8\?/im)
})

test('an address to reply to that the author gave stays', () => {
  const head = headOf(`${FROM}\nReply-To: desk@there.test\nSender: robot@there.test`)
  assert.equal(head.match(/^(?:Reply-To|Sender):.*$/gm), ['Reply-To: desk@there.test'])
})

test('a message without an author is sent by the address that received it', () => {
  assert.match(headOf('Subject: x'), /^From: team@here\.test$/m)
})

test('trace fields are added, and fields that belong to one delivery or to this host are not forwarded', () => {
  const head = headOf(
    [
      'Return-Path: <x@there.test>',
      'Received: from a by b; Sat, 21 Nov 2026 12:59:00 +0000',
      'Authentication-Results: mailhorn.test; dmarc=pass',
      'Authentication-Results: mx.there.test; dmarc=pass',
      'X-Mailhorn-Answered: 2',
      'Bcc: hidden@there.test',
      FROM,
    ].join('\n'),
    SIGNED,
  )
  assert.equal(
    head.split('\r\n').map(line => line.slice(0, 45)),
    [
      'Received: from out.there.test ([192.0.2.1]) by',
      'X-Mailhorn-Answered: 3',
      'Received: from a by b; Sat, 21 Nov 2026 12:59:0',
      'Authentication-Results: mx.there.test; dmarc=p',
      'From: Ann <ann@there.test>',
    ].map(line => line.slice(0, 45)),
  )
})

for (const [what, head, fault] of [
  ['was sent on ten times', `${FROM}\nX-Mailhorn-Answered: 10`, /mail loop/],
  ['has a hundred trace fields', `${FROM}${'\nReceived: by x'.repeat(100)}`, /too many servers/],
  ['has a NUL', `${FROM}\nSubject: \0`, /NUL/],
  ['has a line that is no field', `${FROM}\nthis is no field\nTo: x@y.test`, /not a header field/],
] as const)
  test(`a message that ${what} is not forwarded`, () => {
    const { bytes, message } = mailOf(head)
    const made = forwardedMail(message, bytes, { recipient: RECIPIENT, to: TO, mailHost: MAIL_HOST })
    assert.match('fault' in made ? made.fault : '', fault)
  })

for (const [what, verdicts, fault] of [
  ['malware', { ...NOT_JUDGED, virus: 'FAIL' }, /malware/],
  ['spam', { ...NOT_JUDGED, spam: 'FAIL' }, /spam/],
  ['forged mail', verdictsOf({ dmarc: 'fail', policy: 'reject' }), /there\.test asks to reject/],
  ['mail that fails DMARC without a policy', verdictsOf({ dmarc: 'fail', policy: 'none' }), undefined],
  ['mail that was not checked', NOT_JUDGED, undefined],
] as [string, Verdicts, RegExp | undefined][])
  test(`${what} is ${fault ? 'not ' : ''}forwarded`, () => {
    const found = forwardFault(mailOf(FROM, verdicts).message, TO)
    if (fault) assert.match(found!, fault)
    else assert.is(found, undefined)
  })

for (const [what, head, sender, isFault] of [
  ['an out-of-office reply', 'From: Bob <bob@OTHER.test>\nAuto-Submitted: auto-replied', '', true],
  ['a report without a sender', 'From: bob@other.test', '', true],
  ['a letter', 'From: bob@other.test', 'bob@other.test', false],
  ['an out-of-office reply of another', `${FROM}\nAuto-Submitted: auto-replied`, '', false],
] as const)
  test(`${what} ${isFault ? 'is not' : 'is'} forwarded to the address that it comes from, or another`, () => {
    const fault = forwardFault(mailOf(head, verdictsOf({}), sender).message, TO)
    assert.is(fault !== undefined, isFault)
  })

test.run()
