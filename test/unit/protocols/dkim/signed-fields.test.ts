import * as assert from 'uvu/assert'
import { relaxedField, selectSignedFields } from '../../../../src/protocols/dkim/signed-fields.ts'
import type { HeaderField } from '../../../../src/protocols/smtp/header-field.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dkim/signed-fields')

const relaxed: [name: string, value: string, field: string][] = [
  ['a', 'X', 'a:X'],
  ['a', '', 'a:'],
  ['a', '  X  ', 'a:X'],
  ['a', 'X\r\n Y', 'a:X Y'],
  ['b', 'Y\t\r\n\tZ  ', 'b:Y Z'],
  ['a', '\r\n X', 'a:X'],
  ['a', 'X\r\n \r\n Y', 'a:X Y'],
  ['a', 'X  "Y  Z"', 'a:X "Y Z"'],
  ['a', '\t', 'a:'],
  ['a', 'X\u00a0', 'a:X\u00a0'],
  ['a', '\u3000X\f', 'a:\u3000X\f'],
  ['a', 'X\rY\nZ', 'a:X\rY\nZ'],
  ['a', 'x:y : z', 'a:x:y : z'],
]
for (const [name, value, field] of relaxed)
  test(`${JSON.stringify(value)} is relaxed to ${JSON.stringify(field)}`, () => {
    assert.is(relaxedField(name, value), field)
  })

const from: HeaderField = { name: 'From', value: 'a@b.test' }
/**
 * Names that a message with only From signs as absent, so that none of these fields can be added on the way.
 */
const ABSENT =
  'reply-to to cc subject date message-id mime-version content-type content-transfer-encoding in-reply-to references'

test('signed fields: important names are listed once more than they occur', () => {
  const { names, canonical } = selectSignedFields([from])
  assert.is(names.join(' '), `from from ${ABSENT}`)
  assert.is(canonical, 'from:a@b.test\r\n')
})

test('signed fields: cached selections do not mix values or orders of messages', () => {
  const to = (value: string): HeaderField => ({ name: 'To', value })
  const canonicalOf = (...fields: HeaderField[]) => selectSignedFields(fields).canonical
  assert.is(canonicalOf(from, to('1'), to('2')), 'from:a@b.test\r\nto:2\r\nto:1\r\n')
  assert.is(canonicalOf(from, to('3'), to('4')), 'from:a@b.test\r\nto:4\r\nto:3\r\n')
  assert.is(canonicalOf(to('5'), from, to('6')), 'from:a@b.test\r\nto:6\r\nto:5\r\n')
})

test('signed fields: the cache is bounded and every message gets its own selection', () => {
  for (let round = 0; round < 2; round++)
    for (let i = 0; i < 250; i++) {
      const list: HeaderField = { name: `List-X${i}`, value: `${round}` }
      assert.is(selectSignedFields([from, list]).canonical, `from:a@b.test\r\nlist-x${i}:${round}\r\n`)
    }
  const many = Array.from({ length: 400 }, (_, i) => ({ name: 'Resent-To', value: `${i}` }))
  assert.is(selectSignedFields([from, ...many]).names.filter(name => name === 'resent-to').length, 400)
})

test('signed fields: a message without From is refused', () => {
  assert.throws(() => selectSignedFields([{ name: 'To', value: 'a@b.test' }]), /without From/)
})

test('signed fields: names are compared without case', () => {
  const { names, canonical } = selectSignedFields([
    { name: 'FROM', value: 'a@b.test' },
    { name: 'sUBJECT', value: 'x' },
  ])
  assert.equal(names.slice(0, 2), ['from', 'from'])
  assert.is(canonical, 'from:a@b.test\r\nsubject:x\r\n')
})

test('signed fields: fields of one name are signed from the bottom up', () => {
  const { names, canonical } = selectSignedFields([
    { name: 'To', value: 'top@b.test' },
    from,
    { name: 'to', value: 'bottom@b.test' },
  ])
  assert.equal(
    names.filter(name => name === 'to'),
    ['to', 'to', 'to'],
  )
  assert.is(canonical, 'from:a@b.test\r\nto:bottom@b.test\r\nto:top@b.test\r\n')
})

test('signed fields: sender, list, resent, feedback and correlation fields are signed if present', () => {
  const present = [
    'Sender',
    'List-Unsubscribe',
    'List-ID',
    'List-Help',
    'Resent-From',
    'Resent-Date',
    'Feedback-ID',
    'X-Mailhorn-Ref',
  ]
  const { names, canonical } = selectSignedFields([from, ...present.map(name => ({ name, value: '1' }))])
  assert.equal(
    names.slice(2 + ABSENT.split(' ').length),
    present.map(name => name.toLowerCase()),
  )
  for (const name of present) assert.ok(canonical.includes(`${name.toLowerCase()}:1\r\n`))
})

for (const name of [
  'Received',
  'Return-Path',
  'Bcc',
  'DKIM-Signature',
  'ARC-Seal',
  'X-Note',
  'Authentication-Results',
])
  test(`signed fields: ${name} is not signed`, () => {
    const { names, canonical } = selectSignedFields([from, { name, value: 'x' }])
    assert.not.ok(names.includes(name.toLowerCase()))
    assert.is(canonical, 'from:a@b.test\r\n')
  })

test('signed fields: time is linear in the size of the header', () => {
  for (const piece of [' ', '\t', '\r\n ', 'a  ', '\r', 'é']) {
    assertLinear(piece, count => relaxedField('subject', piece.repeat(count)), 50_000)
    const fields = (length: number) => [from, ...Array.from({ length }, () => ({ name: 'To', value: piece }))]
    assertLinear(`fields of ${piece}`, count => selectSignedFields(fields(count)), 5_000)
  }
})

test.run()
