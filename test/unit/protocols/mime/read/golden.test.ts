import * as assert from 'uvu/assert'
import { readMail } from '../../../../../src/protocols/mime/read/read-mail.ts'
import { decodeBytes } from '../../../../../src/protocols/mime/read/transfer.ts'
import { CHARSETS } from '../../../../golden/inbound/charsets.ts'
import type { Fixture } from '../../../../golden/inbound/fixture.ts'
import { HEADS } from '../../../../golden/inbound/heads.ts'
import { STRUCTURES } from '../../../../golden/inbound/structures.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/read: golden mails')
const ALL = [...STRUCTURES, ...HEADS, ...CHARSETS]

function read({ mail }: Fixture) {
  const bytes = Buffer.from(mail.replace(/\n/g, '\r\n'), 'latin1')
  return { bytes, parsed: readMail(bytes) }
}

for (const fixture of ALL)
  test(fixture.name, () => {
    const { bytes, parsed } = read(fixture)
    const { parts, ...rest } = fixture.expected
    for (const [key, value] of Object.entries(rest))
      assert.equal(parsed[key as keyof typeof parsed], value, key)
    if (parts) {
      assert.is(parsed.parts.length, parts.length)
      for (const [i, expected] of parts.entries())
        for (const [key, value] of Object.entries(expected))
          assert.equal(parsed.parts[i]![key as keyof (typeof parts)[number]], value, `${i}: ${key}`)
    }
    for (const { start, end, encoding, sizeBytes } of parsed.parts)
      assert.is(decodeBytes(bytes.subarray(start, end), encoding).length, sizeBytes)
  })

test('there are more than 200 fixtures with unique names', () => {
  assert.ok(ALL.length >= 200, String(ALL.length))
  assert.is(new Set(ALL.map(({ name }) => name)).size, ALL.length)
})

test('truncated and duplicated input is parsed without an error', () => {
  for (const fixture of STRUCTURES) {
    const bytes = Buffer.from(fixture.mail.slice(0, 2_000).replace(/\n/g, '\r\n'), 'latin1')
    for (let end = 0; end < bytes.length; end += 1 + Math.floor(bytes.length / 40)) {
      readMail(bytes.subarray(0, end))
      readMail(Buffer.concat([bytes.subarray(0, end), bytes]))
    }
  }
})

test.run()
