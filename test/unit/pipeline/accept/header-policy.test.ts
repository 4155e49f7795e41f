import * as assert from 'uvu/assert'
import { readHeaders, type UserHeaders } from '../../../../src/pipeline/accept/header-policy.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import { userText } from '../../../../src/protocols/mime/header-text.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accept/header-policy')

function taken(headers: unknown): UserHeaders {
  const read = readHeaders(headers)
  if (isRefusal(read)) throw new Error(`refused: ${read.message}`)
  return read
}

function refused(headers: unknown): string {
  const read = readHeaders(headers)
  if (!isRefusal(read)) throw new Error(`taken: ${JSON.stringify(headers)}`)
  assert.is(read.refused, 'invalid_field')
  assert.is(read.errors?.length, 1)
  return `${read.errors![0]!.path}: ${read.message}`
}

for (const name of [
  'Bcc',
  'To',
  'Cc',
  'From',
  'Sender',
  'Subject',
  'Date',
  'Return-Path',
  'Received',
  'Resent-From',
  'Resent-To',
  'DKIM-Signature',
  'ARC-Seal',
  'Content-Type',
  'Content-Transfer-Encoding',
  'MIME-Version',
  'Authentication-Results',
  'Delivered-To',
  'X-Mailhorn-Ref',
])
  test(`header policy: ${name} is reserved in any case`, () => {
    for (const spelling of [name, name.toLowerCase(), name.toUpperCase()])
      assert.match(
        refused({ [spelling]: 'x' }) ?? '',
        `headers.${spelling}: The header \`${spelling}\` is reserved and cannot be set in \`headers\`.`,
      )
  })

for (const [name, hint] of [
  ['Subject', /Use the field `subject`\.$/],
  ['DATE', /use the field `scheduled_at`\.$/],
  ['Return-Path', /bounces are reported by events\.$/],
] as const)
  test(`header policy: the refusal of ${name} says what to do instead`, () => {
    assert.match(refused({ [name]: 'x' }) ?? '', hint)
  })

for (const name of [
  'X-Entity-Ref-ID',
  'In-Reply-To',
  'References',
  'List-Unsubscribe',
  'List-Id',
  'Auto-Submitted',
  'Precedence',
  'Importance',
  'X-Content-Type',
  'Recipient',
  'Fromage',
  'X-Resent-From',
  '!#$%&',
])
  test(`header policy: ${name} is accepted unchanged`, () => {
    assert.equal(taken({ [name]: ' some value ' }).fields, [[name, ' some value ']])
  })

test('header policy: a name is printable ASCII without blank and colon', () => {
  for (const name of ['', 'X Y', 'X:', 'X\n', 'X\u00e4', 'X\0', 'X\t', 'X\u007f', 'x'.repeat(77)])
    assert.match(refused({ [name]: 'x' }), /printable ASCII characters without spaces and colons/)
  assert.is(taken({ ['x'.repeat(76)]: 'y' }).fields.length, 1)
})

test('a name that is not valid is shown without what could harm a terminal', () => {
  assert.match(
    refused({ 'X\u001b[2J\u202e': 'x' }),
    'The header name `X?[2J?` must contain 1 to 76 printable ASCII',
  )
})

test('header policy: a value is one line of text', () => {
  for (const value of ['a\r\nBcc: b@c.test', 'a\nb', 'a\rb', 'a\0b', '\r\n'])
    assert.match(refused({ 'X-A': value }), /must not contain CR, LF or NUL/)
  for (const value of [1, null, true, ['a'], { a: 1 }, undefined])
    assert.match(refused({ 'X-A': value }), /must be a string/)
  for (const value of ['', 'Grüße 💌', 'a\tb', 'x'.repeat(2_000)])
    assert.equal(taken({ 'X-A': value }).fields, [['X-A', value]])
})

test('two names that differ only in case are one given twice', () => {
  assert.match(refused({ 'X-Abc': '1', 'x-aBC': '2' }), 'The header `x-aBC` must not occur twice.')
  assert.is(taken({ 'X-Abc': '1', 'X-Abd': '2' }).fields.length, 2)
})

test('header policy: names of built-in object members are ordinary names', () => {
  assert.equal(taken(JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c"}')).fields, [
    ['__proto__', 'a'],
    ['constructor', 'b'],
    ['toString', 'c'],
  ])
})

test('header policy: at most 100 headers with 64 KiB together', () => {
  const many = (count: number, value = 'x') =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${String(i).padStart(3, '0')}`, value]))
  assert.is(taken(many(100)).fields.length, 100)
  assert.match(refused(many(101)), '`headers` must contain at most 100 headers; got 101.')
  assert.is(taken(many(64, 'x'.repeat(1_019))).fields.length, 64)
  assert.match(refused(many(65, 'x'.repeat(1_019))), '`headers` must contain at most 65536 bytes in total;')
  assert.match(refused(many(40, 'ä'.repeat(1_000))), 'bytes in total')
})

test('header policy: anything but an object is refused', () => {
  for (const headers of [[], [['X-A', 'b']], 'X-A: b', 1, null, undefined, true])
    assert.match(refused(headers), '`headers` must be an object whose values are strings.')
  assert.equal(taken({}), { fields: [], messageId: null, replyTo: null })
})

test('header policy: a well-formed Message-ID is used', () => {
  for (const id of ['<a@b>', '<20261121.1.abc@mail.here.test>', ' <a+b/c=d@[192.0.2.1]> '])
    assert.is(taken({ 'Message-ID': id }).messageId, id.trim())
  assert.is(taken({ 'message-id': '<a@b>' }).messageId, '<a@b>')
  for (const id of [
    'a@b',
    '<a>',
    '<a@b',
    '<a@b@c>',
    '<a b@c>',
    '<@b>',
    '<a@>',
    '<a@b> <c@d>',
    '<ä@b>',
    '<a@bücher.test>',
    '<a\u0007@b>',
    `<${'a'.repeat(900)}@b>`,
  ])
    assert.match(
      refused({ 'Message-ID': id }),
      'The header `Message-ID` must have the form `<local@domain>`.',
    )
})

test('header policy: a structured field that is empty is left out, any other is kept', () => {
  const structured = [
    'In-Reply-To',
    'REFERENCES',
    'message-id',
    'Reply-To',
    'List-Id',
    'List-Unsubscribe-Post',
  ]
  for (const name of [...structured, 'Feedback-ID', 'Precedence', 'X-Entity-Ref-ID'])
    for (const value of ['', ' ', '\t \u00a0'])
      assert.equal(taken({ [name]: value, 'X-A': '' }), {
        fields: [['X-A', '']],
        messageId: null,
        replyTo: null,
      })
})

const long = 'q'.repeat(1_000)
const unfit: [name: string, value: string, says: RegExp][] = [
  ['References', `<a@b.test> <${long}@b.test>`, /997 characters without a blank/],
  ['In-Reply-To', `<${long}@b.test>`, /997 characters without a blank/],
  ['List-Unsubscribe', `<https://b.test/?${long}>`, /997 characters without a blank/],
  [
    'List-Unsubscribe',
    `<mailto:u@b.test>, <https://b.test/${'ü'.repeat(170)}>`,
    /997 characters without a blank/,
  ],
  ['list-help', long, /997 characters without a blank/],
  ['List-Id', `News <${long}.b.test>`, /997 characters without a blank/],
  ['Feedback-ID', `1:${long}:b`, /997 characters without a blank/],
  ['X-Entity-Ref-ID', long, /997 characters without a blank/],
  ['References', '<ä@b.test>', /must be printable ASCII/],
  ['In-Reply-To', '<a@bücher.test>', /must be printable ASCII/],
  ['List-Unsubscribe', 'https://b.test/ü', /must be printable ASCII/],
  ['List-Unsubscribe', '<https://b.test/>(größer)', /must be printable ASCII/],
  ['List-Unsubscribe-Post', 'List-Unsubscribe=One‑Click', /must be printable ASCII/],
  ['List-Id', 'News <größe.b.test>', /must be printable ASCII/],
  ['Feedback-ID', 'größe:b:c', /must be printable ASCII/],
  ['Precedence', 'bülk', /must be printable ASCII/],
  ['Auto-Submitted', 'auto\u00a0generated', /must be printable ASCII/],
  ['X-Entity-Ref-ID', '1\u200b', /must be printable ASCII/],
  ['References', '<a\u0007@b.test>', /must be printable ASCII/],
  ['Disposition-Notification-To', 'ü@b.test', /must be printable ASCII/],
  ['Return-Receipt-To', 'Ann <ü@b.test>', /must be printable ASCII/],
  ['Original-Message-ID', '<ü@b.test>', /must be printable ASCII/],
  ['Autocrypt', `addr=a@b.test; keydata=${long}`, /997 characters without a blank/],
]
for (const [name, value, says] of unfit)
  test(`header policy: ${name}: ${JSON.stringify(value.slice(0, 40))} is refused`, () => {
    const message = refused({ [name]: value })
    assert.ok(message.startsWith(`headers.${name}: The value of the header \`${name}\` must `), message)
    assert.match(message, says)
  })

const fit: [name: string, value: string][] = [
  ['References', '<a@b.test>'.repeat(1_000)],
  ['References', 'some  thing'],
  ['List-Unsubscribe', `<mailto:u@b.test?subject=ü>,<https://b.test/ü${'q'.repeat(900)}>`],
  ['List-Post', 'NO (größere Listen)'],
  ['List-Id', 'Größen und mehr <g.b.test>'],
  ['Feedback-ID', '1:2:3:mailhorn'],
  ['Disposition-Notification-To', 'Jürgen <j@b.test>, Ann <a@b.test>'],
  ['Archived-At', '<https://b.test/ü>'],
  ['X-Note', `ü${long}`],
  ['Organization', 'Größe'],
]
for (const [name, value] of fit)
  test(`header policy: ${name}: ${JSON.stringify(value.slice(0, 40))} is accepted unchanged`, () => {
    assert.equal(taken({ [name]: value }).fields, [[name, value]])
    for (const line of `${name}: ${userText(name, value)}`.split('\r\n')) {
      assert.match(line, /^[\t -~]{0,998}$/)
      assert.not.match(line, /^ $/)
    }
  })

test('header policy: a hostile structured value is read in linear time', () => {
  for (const hostile of ['<', '(', '()', '<>', '> <', ' ', 'a', ',', 'a ', '(<', 'ü<'])
    for (const name of ['References', 'List-Id', 'List-Unsubscribe', 'Errors-To'])
      assertLinear(`${name} ${hostile}`, count => readHeaders({ [name]: hostile.repeat(count) }), 4_000)
})

test('header policy: Reply-To is a list of mailboxes', () => {
  const addresses = (value: string) => taken({ 'Reply-To': value }).replyTo?.map(({ address }) => address)
  assert.equal(addresses('a@here.test'), ['a@here.test'])
  assert.equal(addresses('"Last, First" <a@here.test>, b@there.test'), ['a@here.test', 'b@there.test'])
  assert.equal(addresses('"a \\" quote, b" <a@here.test>'), ['a@here.test'])
  assert.equal(addresses('A <a@here.test>,B <b@there.test>'), ['a@here.test', 'b@there.test'])
  assert.is(taken({ 'X-A': 'b' }).replyTo, null)
})

test('header policy: an invalid Reply-To is refused', () => {
  for (const value of [
    ',',
    'a@here.test, nobody',
    'a@here.test b@here.test',
    'group: a@here.test;',
    '"Unfinished <a@here.test>',
    'a@here.test"',
    'A "B" C" <a@here.test>',
  ])
    assert.match(refused({ 'Reply-To': value }), /^headers\.Reply-To: The address in `Reply-To` /)
})

test('header policy: a hostile Reply-To is read in linear time', () => {
  for (const [before, piece] of [
    ['', '"\\'],
    ['"', '""'],
    ['', '\\"'],
    ['"', '\\"'],
  ] as const)
    assertLinear(piece, count => refused({ 'Reply-To': before + piece.repeat(count) }), 4_000)
})

test.run()
