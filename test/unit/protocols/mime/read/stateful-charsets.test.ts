import * as assert from 'uvu/assert'
import { decodeText } from '../../../../../src/protocols/mime/read/charset.ts'
import { STATEFUL } from '../../../../../src/protocols/mime/read/stateful-charsets.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/read/stateful-charsets')

const shifted = (pairs: string, encoding: string) =>
  new TextDecoder(encoding).decode(Buffer.from(pairs, 'latin1').map(octet => octet | 0x80))
/** Two octets are a character; half of one is shown as U+FFFD. */
const paired = (pairs: string, encoding: string) =>
  shifted(pairs.slice(0, pairs.length & ~1), encoding) + (pairs.length % 2 === 1 ? '\ufffd' : '')

/** Naive, over the whole text at once. */
const REFERENCES: Record<string, (text: string) => string> = {
  'utf-7': text =>
    text.replace(/\+([A-Za-z0-9+/]*)-?/g, (_, units: string) => {
      if (units === '') return '+'
      const octets = Buffer.from(units, 'base64')
      return octets
        .subarray(0, octets.length & ~1)
        .swap16()
        .toString('utf16le')
    }),
  'hz-gb-2312': text =>
    text.replace(
      /~\{((?:[!-w][!-~])*(?:[!-w](?![!-~]))?)(?:~\})?|~(~)|~\r?\n/g,
      (_, pairs?: string, tilde = '') => (pairs === undefined ? tilde : paired(pairs, 'gb18030')),
    ),
  'iso-2022-kr': text =>
    text
      .replaceAll('\x1b$)C', '')
      .replace(/\x0e([!-~]*)\x0f?/g, (_, pairs: string) => paired(pairs, 'euc-kr'))
      .replaceAll('\x0f', ''),
  'iso-2022-jp': text =>
    new TextDecoder('iso-2022-jp').decode(
      Buffer.from(text.replace(/(?:\x1b(?:\([BJI]|\$[@B]))+(?=\x1b(?:\([BJI]|\$[@B])|$)/g, ''), 'latin1'),
    ),
}

const TOKENS: Record<string, string[]> = {
  'utf-7': ['+', '-', 'A', 'AGE', 'AGE-', '+AGE-', '+IKw-', '/', ' ', '\r\n', '+-', 'x'],
  'hz-gb-2312': [
    '~{',
    '~}',
    'VP',
    'w!',
    'x!',
    '!\x7f',
    '~~',
    '~\n',
    '~\r\n',
    '!',
    'a',
    ' ',
    '\r\n',
    '~',
    '{',
    '}',
    'Dc:C',
  ],
  'iso-2022-jp': ['\x1b(B', '\x1b$B', '\x1b(J', '\x1b(I', '\x1b$@', '%F', '%9', '1', 'ab', '\r\n', ' '],
  'iso-2022-kr': [
    '\x1b$)C',
    '\x0e',
    '\x0f',
    '0!',
    '!',
    '~',
    '\x7f',
    '\x1b',
    '$',
    'C',
    ' ',
    '\r\n',
    'a',
    '\x0e0!\x0f',
  ],
}

for (const [charset, reference] of Object.entries(REFERENCES))
  test(`${charset}: read as a naive reader does, at once and in pieces of any size`, () => {
    const text = fc.array(fc.constantFrom(...TOKENS[charset]!), { maxLength: 25 }).map(list => list.join(''))
    const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(text, cuts, (encoded, sizes) => {
        const expected = reference(encoded)
        assert.is(decodeText(encoded, charset), expected)
        const octets = Buffer.from(encoded, 'latin1')
        const decoder = STATEFUL.get(charset)!()
        let decoded = ''
        for (let at = 0, i = 0; at < octets.length; i++) {
          const size = sizes[i % sizes.length]!
          decoded += decoder.write(octets.subarray(at, at + size))
          at += size
        }
        assert.is(decoded + decoder.end(), expected)
      }),
      { numRuns: 3_000 },
    )
  })

test('a text that needs several pieces is the same as one that needs one', () => {
  const line = { 'utf-7': '+IKw-a', 'hz-gb-2312': '~{VP~}a', 'iso-2022-kr': '\x0e0!\x0fa' }
  for (const [charset, encoded] of Object.entries(line)) {
    const decoded = decodeText(encoded.repeat(30_000), charset)
    assert.ok(decoded === decodeText(encoded, charset).repeat(30_000), charset)
  }
  assert.ok(decodeText('\xe2\x82\xac'.repeat(50_000), 'utf-8') === '€'.repeat(50_000))
  assert.ok(decodeText('\x1b$B$"\x1b(Ba'.repeat(20_000), undefined) === 'あa'.repeat(20_000))
})

test.run()
