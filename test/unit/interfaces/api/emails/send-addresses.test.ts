import * as assert from 'uvu/assert'
import { readSendEmail } from '../../../../../src/interfaces/api/emails/send-schema.ts'
import { mailboxText } from '../../../../../src/protocols/smtp/address.ts'
import { refusesToSend } from '../../../../kit/refusals.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('a request to send: addresses')
const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }

/** Each could be read as another mailbox, or as two, by somebody. */
const NO_MAILBOX = [
  '""@c.example',
  '<a@b.example> <c@d.example>',
  'Ann <a@b.example> <c@d.example>',
  'g: a@b.example, c@d.example;',
  'undisclosed-recipients:;',
  'a@b.example, c@d.example',
  'a@b.example, Bob <c@d.example>',
  'Ann <a@b.example>, Bob <c@d.example>',
  'a@b.example; c@d.example',
  'a@b.example c@d.example',
  'a@b.example\tc@d.example',
  'a@b.example\0@c.example',
  'a\u007f@b.example',
  'a@@b.example',
  'a@b@c.example',
  'x@[127.0.0.1]',
  'x@[IPv6:::1]',
  'x@127.0.0.1',
  'x@2130706433',
  '<@r.example:a@b.example>',
  '@r.example:a@b.example',
  'a@b.example>',
  '<a@b.example',
  '<<a@b.example>>',
  '<>',
  '>',
  'Ann <>',
  'Ann',
  '@',
  '@b.example',
  'a@',
  'a@localhost',
  'a@b.example.',
  'a@b..example',
  'a@.b.example',
  '.a@b.example',
  'a.@b.example',
  'a..b@c.example',
  'a b@c.example',
  'a@b c.example',
  'a@-b.example',
  'a@b-.example',
  'a@b_c.example',
  'a@b%2eexample',
  'a@b.example/path',
  'a@b.example#fragment',
  'a@b.example?subject=x',
  'a@b.example:25',
  'a@user:password@b.example',
  'mailto:a@b.example',
  'a@b.example (comment',
  '(comment) a@b.example, c@d.example',
  'a@b’s.example',
  'a@b™.example',
  '\u200ba@b.example',
  'a@b.example\u202c',
  'a(comment)@b.example',
  '"unfinished <a@b.example>',
  `a@${'x'.repeat(64)}.example`,
  `a@${'x.'.repeat(130)}example`,
  `${'a'.repeat(65)}@b.example`,
  `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`,
  'a@xn--.example',
  'a\u200b@b.example',
  'a\u202e@b.example',
  'a\u00a0@b.example',
  'a\u2028@b.example',
  'a@b\u2028.example',
  'a\ud800@b.example',
  'a@\ud800.example',
  '😀',
]

for (const text of NO_MAILBOX) {
  for (const path of ['to', 'cc', 'bcc', 'reply_to'])
    test(`${JSON.stringify(text)} is refused in ${path}`, () => {
      refusesToSend({ ...GOOD, [path]: text }, { status: 422, name: 'validation_error', path })
    })
  test(`${JSON.stringify(text)} is refused as sender`, () => {
    const refusal = { status: 422, name: 'invalid_from_address', path: 'from' }
    refusesToSend({ ...GOOD, from: text }, refusal)
  })
}

/** Given address, the address that the API shows, and the one recipient. */
const ONE_MAILBOX = [
  ['delivered@SIMULATOR.Test', 'delivered@simulator.test', 'delivered@simulator.test'],
  ['Delivered+Label@simulator.test', 'Delivered+Label@simulator.test', 'Delivered+Label@simulator.test'],
  ['  delivered@simulator.test  ', 'delivered@simulator.test', 'delivered@simulator.test'],
  ['<delivered@simulator.test>', 'delivered@simulator.test', 'delivered@simulator.test'],
  ['"delivered"@simulator.test', 'delivered@simulator.test', 'delivered@simulator.test'],
  ['delivered@simulator。test', 'delivered@simulator.test', 'delivered@simulator.test'],
  ['delivered@ｓimulator.test', 'delivered@simulator.test', 'delivered@simulator.test'],
  ["o'neil%x!y@simulator.test", "o'neil%x!y@simulator.test", "o'neil%x!y@simulator.test"],
  ['jose\u0301@simulator.test', 'jos\u00e9@simulator.test', 'jos\u00e9@simulator.test'],
  ['Ann <delivered@simulator.test>', 'Ann <delivered@simulator.test>', 'delivered@simulator.test'],
  ['"Ann" <delivered@simulator.test>', 'Ann <delivered@simulator.test>', 'delivered@simulator.test'],
  ['Ann<delivered@simulator.test>', 'Ann <delivered@simulator.test>', 'delivered@simulator.test'],
  [
    '"Doe, Jane" <delivered@simulator.test>',
    '"Doe, Jane" <delivered@simulator.test>',
    'delivered@simulator.test',
  ],
  [
    'Doe, Jane (x) <delivered@simulator.test>\r\n',
    '"Doe, Jane (x)" <delivered@simulator.test>',
    'delivered@simulator.test',
  ],
  [
    'a@c.example <delivered@simulator.test>',
    '"a@c.example" <delivered@simulator.test>',
    'delivered@simulator.test',
  ],
  ['"a\\@b"@simulator.test', '"a@b"@simulator.test', '"a@b"@simulator.test'],
  [
    'Ann <"evil@evil.example x"@simulator.test>',
    'Ann <"evil@evil.example x"@simulator.test>',
    '"evil@evil.example x"@simulator.test',
  ],
  [
    '"<evil@evil.example>" <delivered@simulator.test>',
    '"<evil@evil.example>" <delivered@simulator.test>',
    'delivered@simulator.test',
  ],
  [
    '"a\\"b\\\\c" <delivered@simulator.test>',
    '"a\\"b\\\\c" <delivered@simulator.test>',
    'delivered@simulator.test',
  ],
  [
    '=?utf-8?Q?a=40evil.test=2C?= <delivered@simulator.test>',
    '=?utf-8?Q?a=40evil.test=2C?= <delivered@simulator.test>',
    'delivered@simulator.test',
  ],
  [
    'Grüße 😀 مرحبا <delivered@simulator.test>',
    'Grüße 😀 مرحبا <delivered@simulator.test>',
    'delivered@simulator.test',
  ],
] as const

for (const [input, shown, address] of ONE_MAILBOX)
  for (const field of ['from', 'to', 'replyTo'] as const)
    test(`${input} is one mailbox in ${field}`, () => {
      const mailboxOf = (text: string) => {
        const { [field]: read } = readSendEmail({ ...GOOD, [field]: text })
        const [mailbox, ...others] = Array.isArray(read) ? read : [read]
        assert.equal(others, [])
        return mailbox!
      }
      const mailbox = mailboxOf(input)
      assert.is(mailbox.address, address)
      assert.is(mailboxText(mailbox), shown)
      assert.equal(mailboxOf(shown), mailbox, 'what the API shows, it takes back as the same mailbox')
    })

test.run()
