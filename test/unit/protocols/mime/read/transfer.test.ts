import * as assert from 'uvu/assert'
import {
  createDecoder,
  decodeBytes,
  decodedSize,
  type Encoding,
} from '../../../../../src/protocols/mime/read/transfer.ts'
import { type Arbitrary, fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/read/transfer')

/** Lines of their own, joined as they come: what an encoder writes, and what it never should. */
function bodies(...tokens: string[]): Arbitrary<string> {
  const token = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...tokens) }, fc.string({ maxLength: 3 }))
  return fc.array(token, { maxLength: 30 }).map(list => list.join(''))
}

/** Naive, over the whole text at once, line by line. */
const REFERENCES: Record<Exclude<Encoding, 'none'>, (text: string) => Buffer> = {
  'quoted-printable'(text) {
    const lines = text.split('\n')
    const last = lines.pop()!
    const joined = lines.map(line => {
      const [, message, cr] = /^(.*?)[ \t]*(\r?)$/s.exec(line)!
      return message!.endsWith('=') ? message!.slice(0, -1) : `${message}${cr}\n`
    })
    const whole = joined.join('') + last.replace(/=[ \t]*\r?$/, '')
    const octet = /=([0-9A-Fa-f]{2})/g
    return Buffer.from(
      whole.replace(octet, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    )
  },
  base64(text) {
    const groups = text.replace(/[^A-Za-z0-9+/=]/g, '').split(/=+/)
    return Buffer.concat(groups.map(group => Buffer.from(group, 'base64')))
  },
  uuencode(text) {
    const lines = text.split(/(?<=\n)/)
    const begin = lines.findIndex(line => /[^ \t\r\n]/.test(line))
    if (begin < 0) return Buffer.alloc(0)
    if (!/^begin [0-7]{3,4} /.test(lines[begin]!)) return Buffer.from(lines.slice(begin).join(''), 'latin1')
    const decoded: Buffer[] = []
    for (const line of lines.slice(begin + 1)) {
      const message = line.replace(/\r?\n$|\r$/, '')
      const value = (at: number) => (at < message.length ? (message.charCodeAt(at) - 32) & 63 : 0)
      if (message === '' || message === 'end' || value(0) === 0) break
      const bits = Array.from({ length: 84 }, (_, i) =>
        value(i + 1)
          .toString(2)
          .padStart(6, '0'),
      ).join('')
      decoded.push(
        Buffer.from(
          bits
            .match(/.{8}/g)!
            .slice(0, value(0))
            .map(byte => Number.parseInt(byte, 2)),
        ),
      )
    }
    return Buffer.concat(decoded)
  },
}

const SAMPLES: Record<keyof typeof REFERENCES, Arbitrary<string>> = {
  'quoted-printable': bodies(
    '=',
    '4',
    '1',
    'f',
    '=41',
    '=C3=A9',
    '=\r\n',
    '= \n',
    '\r',
    '\n',
    '\r\n',
    ' ',
    '\t',
    'x',
    '\xe9',
  ),
  base64: bodies('A', 'QUJD', 'QQ==', 'QUI=', '=', '\r\n', ' ', '-', '_', '*', '\xff', '+/'),
  uuencode: fc
    .tuple(
      fc.constantFrom('', '\n', ' \r\n', 'begin 644 a\n', '\nbegin 0755 a b\r\n', 'begin x\n', 'text\n'),
      bodies('#0V%T', '\r\n', '\n', 'M', '_', '`', ' ', 'end', '!', '\xe9', 'end\n'),
    )
    .map(([begin, rest]) => begin + rest),
}

for (const encoding of ['quoted-printable', 'base64', 'uuencode'] as const) {
  test(`${encoding}: decoded as a naive reader does, at once and in pieces of any size`, () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(SAMPLES[encoding], cuts, (text, sizes) => {
        const bytes = Buffer.from(text, 'latin1')
        const expected = REFERENCES[encoding](bytes.toString('latin1'))
        const whole = decodeBytes(bytes, encoding)
        assert.equal(whole.toString('latin1'), expected.toString('latin1'))
        assert.is(decodedSize(bytes, encoding), expected.length)
        const decoder = createDecoder(encoding)
        const pieces: Buffer[] = []
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length]!
          pieces.push(decoder.add(bytes.subarray(at, at + size)))
          at += size
        }
        pieces.push(decoder.end())
        assert.equal(Buffer.concat(pieces).toString('latin1'), expected.toString('latin1'))
      }),
      { numRuns: 3_000 },
    )
  })

  test(`${encoding}: what is asked for is the beginning, and a piece may be larger than what is decoded at once`, () => {
    fc.assert(
      fc.property(SAMPLES[encoding], fc.nat(50), (text, limit) => {
        const bytes = Buffer.from(text, 'latin1')
        const whole = decodeBytes(bytes, encoding)
        assert.equal(decodeBytes(bytes, encoding, limit), whole.subarray(0, limit))
      }),
    )
    const start = encoding === 'uuencode' ? 'begin 644 a\n' : ''
    const line = { 'quoted-printable': 'a=41 \r\n', base64: 'QUJD\r\n', uuencode: '#86%A\r\n' }[encoding]
    const large = Buffer.from(start + line.repeat(20_000))
    const decoder = createDecoder(encoding)
    const decoded = Buffer.concat([decoder.add(large), decoder.end()])
    const expected = { 'quoted-printable': 'aA\r\n', base64: 'ABC', uuencode: 'aaa' }[encoding]
    assert.is(decoded.toString(), expected.repeat(20_000))
  })
}

test('blanks at the end of a line go, but of a run that no program adds', () => {
  const decoded = (text: string) => decodeBytes(Buffer.from(text), 'quoted-printable').toString()
  assert.is(decoded(`a${' '.repeat(256)}\r\nb`), 'a\r\nb')
  assert.is(decoded(`a${' '.repeat(300)}\r\nb`), `a${' '.repeat(256)}\r\nb`)
  assert.is(decoded(`a${' '.repeat(300)}b`), `a${' '.repeat(300)}b`)
})

test('a first line of uuencode that is longer than one is looked at is no encoding, or is skipped to its end', () => {
  const decoded = (text: string) => decodeBytes(Buffer.from(text), 'uuencode').toString()
  const long = 'x'.repeat(3_000)
  assert.is(decoded(`${long}\nmore`), `${long}\nmore`)
  assert.is(decoded(`begin 644 ${long}\n#86%A\n`), 'aaa')
  assert.is(decoded(`${' '.repeat(3_000)}\nbegin 644 a\n#86%A\n`), 'aaa')
})

test('octets without an encoding stay as they are, to the last one', () => {
  const decoder = createDecoder('none')
  assert.equal(Buffer.concat([decoder.add(Buffer.from('ab')), decoder.end()]).toString('latin1'), 'ab')
})

test.run()
