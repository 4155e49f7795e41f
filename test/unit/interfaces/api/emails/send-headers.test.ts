import { refusesToSend } from '../../../../kit/refusals.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('a request to send: headers')
const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const INVALID = { status: 422, name: 'validation_error' }

/** Ours to write, in any case. */
const RESERVED = [
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
  'Resent-Anything',
  'DKIM-Signature',
  'ARC-Seal',
  'ARC-Message-Signature',
  'Content-Type',
  'Content-Transfer-Encoding',
  'Content-Anything',
  'MIME-Version',
  'Authentication-Results',
  'Delivered-To',
  'X-Mailhorn-Ref',
  'X-Mailhorn-Anything',
]

function refusesHeaders(headers: unknown, path: string, says?: RegExp) {
  refusesToSend({ ...GOOD, headers }, { ...INVALID, path, ...(says ? { says } : {}) })
}

function oddCase(name: string): string {
  return [...name].map((letter, i) => (i % 2 ? letter.toUpperCase() : letter.toLowerCase())).join('')
}

for (const name of RESERVED)
  for (const spelling of [name, name.toLowerCase(), name.toUpperCase(), oddCase(name)])
    test(`refuse ${spelling}`, () => refusesHeaders({ [spelling]: 'x' }, `headers.${spelling}`))

for (const name of [
  '',
  ' ',
  'X A',
  'X:A',
  'X-A:',
  ' To',
  'To ',
  'To\t',
  'X\r\nBcc',
  'X\nBcc: evil@evil.example\nY',
  'X\0',
  'Bcс',
  'X-Ü',
  'X-😀',
  'X\u2028Y',
  'X\u0085Y',
  'n'.repeat(77),
])
  test(`refuse the name ${JSON.stringify(name.slice(0, 20))}`, () =>
    refusesHeaders({ [name]: 'x' }, `headers.${name}`))

for (const value of ['a\rb', 'a\nb', 'a\r\nBcc: evil@evil.example', 'a\0b', '\n', 'a\r\n b'])
  test(`refuse the value ${JSON.stringify(value)}`, () => refusesHeaders({ 'X-A': value }, 'headers.X-A'))

for (const value of [5, true, {}, [], ['a'], { prepared: true, value: 'a\r\nBcc: evil@evil.example' }])
  test(`refuse ${JSON.stringify(value)} as a value`, () => refusesHeaders({ 'X-A': value }, 'headers.X-A'))

for (const value of ['x', 5, true, ['X-A: b'], [{ key: 'X-A', value: 'b' }], [['X-A', 'b']]])
  test(`refuse ${JSON.stringify(value)} as headers`, () => refusesHeaders(value, 'headers'))

test('refuse two names that differ only in case', () =>
  refusesHeaders({ 'X-Same': 'a', 'x-same': 'b' }, 'headers.x-same', /twice/))

test('refuse 101 fields', () =>
  refusesHeaders(
    Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`X-${i}`, 'a'])),
    'headers',
    /100/,
  ))

test('refuse more than 64 KiB together', () =>
  refusesHeaders({ 'X-A': 'a'.repeat(40_000), 'X-B': 'a'.repeat(30_000) }, 'headers'))

for (const value of ['x', '<a@b.example', 'a@b.example', '<a b@c.example>', '<a@b@c.example>', '<>'])
  test(`refuse the Message-ID ${JSON.stringify(value)}`, () =>
    refusesHeaders({ 'message-id': value }, 'headers.message-id'))

for (const value of ['nobody', ',', 'a@b.example, nobody', 'g: a@b.example;'])
  test(`refuse the Reply-To ${JSON.stringify(value)}`, () =>
    refusesHeaders({ 'REPLY-TO': value }, 'headers.REPLY-TO'))

test('refuse Reply-To beside reply_to', () => {
  const both = { reply_to: 'a@b.example', headers: { 'Reply-To': 'c@d.example' } }
  refusesToSend({ ...GOOD, ...both }, { ...INVALID, path: 'headers.Reply-To' })
})

test.run()
