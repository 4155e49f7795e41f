import * as assert from 'uvu/assert'
import { timestamp } from '../../../src/http/wire/timestamp.ts'
import { parseMailbox } from '../../../src/smtp/address.ts'
import { mailboxText } from '../../../src/smtp/mailbox-text.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('http: mailboxes and times as shown')

for (const [name, shown] of [
  [null, 'ann@here.example'],
  ['Ann', 'Ann <ann@here.example>'],
  ['Ann Émile 😀', 'Ann Émile 😀 <ann@here.example>'],
  ["O'Neil & Sons", "O'Neil & Sons <ann@here.example>"],
  ['Doe, Jane', '"Doe, Jane" <ann@here.example>'],
  ['a "b" \\c', '"a \\"b\\" \\\\c" <ann@here.example>'],
  ['<evil@evil.example>', '"<evil@evil.example>" <ann@here.example>'],
  ['here.example (sales)', '"here.example (sales)" <ann@here.example>'],
] as const)
  test(`${name} is shown as ${shown}, and read back as the same`, () => {
    const mailbox = { name, address: 'ann@here.example', domain: 'here.example' }
    assert.is(mailboxText(mailbox), shown)
    assert.equal(parseMailbox(shown), mailbox)
  })

test('times have milliseconds and Z, and none is null', () => {
  assert.is(timestamp(0), '1970-01-01T00:00:00.000Z')
  assert.is(timestamp(1_795_000_000_001), '2026-11-18T11:06:40.001Z')
  assert.is(timestamp(null), null)
})

test.run()
