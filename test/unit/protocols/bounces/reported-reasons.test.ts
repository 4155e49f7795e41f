import * as assert from 'uvu/assert'
import { classify } from '../../../../src/protocols/bounces/classify.ts'
import { readReport } from '../../../../src/protocols/bounces/read-report.ts'
import { suite } from '../../../kit/suite.ts'
import { FACTS } from './doors.ts'

/** Reports whose reason does not stand where one looks first. */
const test = suite('bounces/reported-reasons')

const head = (type: string) => `Return-Path: <>
From: Mailer-Daemon@relay.example
To: b.1@bounce.acme.example
Subject: Undelivered Mail
Content-Type: ${type}

`
const recipientsOf = (mail: string) =>
  readReport(Buffer.from(mail), { correlationHeader: 'X-Mailhorn-Ref', providerOf: () => undefined })
    .recipients
const inWords = (text: string) => recipientsOf(`${head('text/plain')}${text}\n`)
const inFields = (diagnostic: string, status: string, words: string) =>
  recipientsOf(`${head('multipart/report; report-type=delivery-status; boundary=b')}--b

${words}
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; relay.example

Final-Recipient: rfc822; bob@there.test
Action: failed
Status: ${status}
Diagnostic-Code: smtp; ${diagnostic}
--b--
`)

const TRANSCRIPT = `   ----- Transcript of session follows -----
... while talking to mx.there.test.:
>>> RCPT To:<bob@there.test>
<<< 550 5.1.1 <bob@there.test>... User unknown
`
for (const [diagnostic, status, words, shown] of [
  ['connection closed after reply', '5.0.0', TRANSCRIPT, /550 5\.1\.1/],
  [
    'lost connection with mx.there.test',
    '5.4.2',
    'bob@there.test: host said 550 no such mailbox',
    /550 no such/,
  ],
  [
    'The remote host closed the connection',
    '5.0.0',
    `<bob@there.test>: 550 5.1.1 unknown user`,
    /550 5\.1\.1/,
  ],
  ['250 2.1.0 sender ok', '5.0.0', '<bob@there.test>: host mx.there.test said: 550 5.1.1 no', /550 5\.1\.1/],
  ['503 5.0.0 Need RCPT (recipient)', '5.0.0', `${TRANSCRIPT}>>> DATA\n<<< 503 5.0.0 Need RCPT`, /503/],
  ['554 5.5.0 No recipients accepted', '5.5.0', '<bob@there.test>: 550 no such user', /554/],
] as const)
  test(`${diagnostic}: the reply that says that there is no such user decides`, () => {
    const [recipient] = inFields(diagnostic, status, words)
    assert.equal([recipient!.class, recipient!.isHard], ['invalid-recipient', true])
    assert.match(recipient!.diagnostic, shown)
  })

for (const [diagnostic, words] of [
  ['connection timed out', '<bob@there.test>: connect to mx.there.test: connection timed out'],
  ['lost connection with mx.there.test', 'bob@there.test: host said 421 closing'],
  ['The remote host closed the connection', 'bob@there.test: host said 550 your server is unknown'],
] as const)
  test(`${diagnostic}, and no reply about the mailbox: nobody is blamed`, () => {
    assert.is(inFields(diagnostic, '5.4.2', words)[0]!.isHard, false)
  })

for (const [text, expected] of [
  [
    'unable to deliver your message to usery@there.test\n\n552 Quota violation for userx@else.test',
    'mailbox-full',
  ],
  [
    'Your message could not be delivered to usery@there.test:\n  host mx.else.test said: 552 5.2.2 Quota violation for userx@else.test',
    'mailbox-full',
  ],
  [
    '<usery@there.test>: forwarded to userx@else.test\n  host mx.else.test said: 550 5.1.1 <userx@else.test>: user unknown',
    'invalid-recipient',
  ],
  [
    'Delivery to usery@there.test has failed.\n\nThe next server replied:\n554 5.7.1 userx@else.test: spam is not taken',
    'spam',
  ],
] as const)
  test(`${text.split('\n').at(-1)}: the reply about the address of a forward is the reason for the recipient`, () => {
    const found = inWords(text)
    assert.equal(
      found.map(({ recipient, class: bounceClass }) => [recipient, bounceClass]),
      [['usery@there.test', expected]],
    )
  })

test('two recipients with a reply each are judged apart', () => {
  const found = inWords(
    'could not be delivered to:\n<one@there.test>: 552 5.2.2 mailbox full\n<two@else.test>: 550 5.1.1 user unknown',
  )
  assert.equal(
    found.map(({ recipient, class: bounceClass, isHard }) => [recipient, bounceClass, isHard]).sort(),
    [
      ['one@there.test', 'mailbox-full', false],
      ['two@else.test', 'invalid-recipient', true],
    ],
  )
})

for (const text of [
  'bob@there.test: No MX found for domain',
  '<bob@there.test>: found no MX for there.test',
  'bob@there.test: no MX records found for domain there.test',
])
  test(`${text}: the domain takes no mail`, () => {
    const [recipient] = inWords(`An error has occurred while attempting to deliver a message\n\n${text}`)
    assert.equal([recipient!.class, recipient!.isHard], ['bad-domain', true])
  })

test('what stands behind the first thousand characters of a reply costs and changes nothing', () => {
  for (const unit of [
    'user unknown ',
    'not found: ',
    'a.a.',
    'a@b.example ',
    'nicht mehr x ',
    '宛先不明',
    'не ',
    '<a@b ',
    '(((',
  ]) {
    const [short, long] = [1_024, 4 * 65_536].map(length => unit.repeat(length).slice(0, length))
    const meaningOf = (text: string) =>
      classify({ phase: 'rcpt', code: 550, enhanced: null, text, facts: FACTS })
    assert.equal(meaningOf(long!), meaningOf(short!), unit)
  }
})

test.run()
