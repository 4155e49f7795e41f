import * as assert from 'uvu/assert'
import { composeHead } from '../../../../src/protocols/mime/compose-head.ts'
import { serializeFields } from '../../../../src/protocols/smtp/header-field.ts'
import { suite } from '../../../kit/suite.ts'
import { headSource, mailbox, SENT_AT } from './messages.ts'

const test = suite('mime/compose-head')

test("the fields stand in a fixed order, the user's last", () => {
  const fields = composeHead(
    headSource({
      cc: [mailbox('cy@there.test')],
      replyTo: [mailbox('help@here.test', 'Help'), mailbox('ann@here.test')],
      headers: [
        ['X-Second', '2'],
        ['X-First', '1'],
      ],
    }),
  )
  assert.is(
    `${serializeFields(fields)}`,
    [
      'Date: Sat, 21 Nov 2026 13:05:09 +0000',
      'From: Ann <ann@here.test>',
      'Reply-To: Help <help@here.test>, ann@here.test',
      'To: bob@there.test',
      'Cc: cy@there.test',
      'Subject: Hello',
      'Message-ID: <1@send.here.test>',
      'X-Second: 2',
      'X-First: 1',
      '',
    ].join('\r\n'),
  )
})

test('nobody to show means no To', () => {
  assert.equal(namesOf({ to: [] }), ['Date', 'From', 'Subject', 'Message-ID'])
})

test('an empty subject is a field without text', () => {
  assert.is(composeHead(headSource({ subject: '' })).find(({ name }) => name === 'Subject')!.value, '')
})

for (const [at, date] of [
  [SENT_AT, 'Sat, 21 Nov 2026 13:05:09 +0000'],
  [Date.UTC(2027, 0, 1, 0, 0, 0, 999), 'Fri, 01 Jan 2027 00:00:00 +0000'],
  [0, 'Thu, 01 Jan 1970 00:00:00 +0000'],
] as const)
  test(`${at} ms is written ${date} (RFC 5322 §3.3)`, () => {
    assert.equal(composeHead(headSource({ sentAt: at }))[0], { name: 'Date', value: date })
  })

test("no field occurs twice: the composed one wins, then the user's first", () => {
  const headers = [
    ['subject', 'x'],
    ['FROM', 'x@y.test'],
    ['Message-Id', '<x@y.test>'],
    ['content-type', 'text/html'],
    ['MIME-Version', '2.0'],
    ['Content-Transfer-Encoding', '8bit'],
    ['X-One', '1'],
    ['x-one', '2'],
  ] as const
  const fields = composeHead(headSource({ headers }))
  assert.equal(fields.slice(5), [{ name: 'X-One', value: '1' }])
})

test("a user's Reply-To stands where none is composed", () => {
  assert.equal(composeHead(headSource({ headers: [['Reply-To', 'r@there.test']] })).at(-1), {
    name: 'Reply-To',
    value: 'r@there.test',
  })
  const both = headSource({ replyTo: [mailbox('s@there.test')], headers: [['reply-to', 'r@there.test']] })
  assert.equal(
    composeHead(both).filter(({ name }) => name.toLowerCase() === 'reply-to'),
    [{ name: 'Reply-To', value: 's@there.test' }],
  )
})

for (const name of ['', 'X Y', 'X:', 'X\r\nBcc', 'Ü', 'x'.repeat(901)])
  test(`the field name ${JSON.stringify(name.slice(0, 20))} is thrown back`, () => {
    assert.throws(() => composeHead(headSource({ headers: [[name, 'x']] })), /not a header field name/)
  })

test('nothing that a value holds begins another field', () => {
  const evil = 'x\r\nBcc: evil@y.test\r\n\r\n<script>'
  const fields = composeHead(
    headSource({
      from: mailbox('ann@here.test', evil),
      to: [mailbox('bob@there.test', evil)],
      subject: evil,
      messageId: `<1>${evil}`,
      headers: [
        ['X-Evil', evil],
        ['References', evil],
      ],
    }),
  )
  const lines = `${serializeFields(fields)}`.split('\r\n')
  assert.is(lines.pop(), '')
  for (const line of lines)
    assert.match(line, /^(?:Date|From|To|Subject|Message-ID|X-Evil|References):? | \S/)
})

test('an address outside ASCII is written in UTF-8, all else in ASCII', () => {
  const fields = composeHead(headSource({ to: [mailbox('jörg@there.test', 'Jörg')], subject: 'Für Jörg' }))
  const text = `${serializeFields(fields)}`
  assert.ok(text.includes('<jörg@there.test>'))
  assert.not.match(text.replace('jörg@', ''), /[^\x00-\x7f]/)
})

function namesOf(input: Parameters<typeof headSource>[0]): string[] {
  return composeHead(headSource(input)).map(({ name }) => name)
}

test.run()
